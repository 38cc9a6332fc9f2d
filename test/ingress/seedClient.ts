/**
 * A client of the protocol as it is in use, word for word as it behaves: one entry a PUT, one request at a time for a session, ten
 * tries, adoption of the server's head, its own uuid as a success, and the log where the header is missing.
 */
type Entry = { readonly uuid: string; readonly [key: string]: unknown }

const TRIES = 10
const BASE_DELAY = 500
const MAX_DELAY = 8_000

export interface Options {
  readonly token: string
  /** Divides the delays, so that a test need not wait as long. */
  readonly faster?: number
}

const lastUuidMap = new Map<string, string>()
const sequential = new Map<string, Promise<unknown>>()

/** Appends after all that was asked for this session before; false: it gave up. */
export const appendSessionLog = (entry: Entry, url: string, options: Options): Promise<boolean> => {
  const before = sequential.get(url) ?? Promise.resolve()
  const mine = before.then(() => appendSessionLogImpl(entry, url, options))
  sequential.set(
    url,
    mine.catch(() => {})
  )
  return mine
}

/** What the process of this client forgets when it ends. */
export const forget = (): void => {
  lastUuidMap.clear()
  sequential.clear()
}

const appendSessionLogImpl = async (entry: Entry, url: string, options: Options): Promise<boolean> => {
  for (let attempt = 1; attempt <= TRIES; attempt++) {
    const lastUuid = lastUuidMap.get(url)
    const headers: Record<string, string> = {
      Authorization: `Bearer ${options.token}`,
      "Content-Type": "application/json"
    }
    if (lastUuid) headers["Last-Uuid"] = lastUuid
    try {
      const response = await fetch(url, { method: "PUT", headers, body: JSON.stringify(entry) })
      await response.arrayBuffer()
      if (response.status === 200 || response.status === 201) {
        lastUuidMap.set(url, entry.uuid)
        return true
      }
      if (response.status === 409) {
        const serverLastUuid = response.headers.get("x-last-uuid")
        if (serverLastUuid === entry.uuid) {
          lastUuidMap.set(url, entry.uuid)
          return true
        }
        if (serverLastUuid) {
          lastUuidMap.set(url, serverLastUuid)
        } else {
          const logs = await getSessionLogs(url, options)
          const adopted = logs?.findLast(({ uuid }) => uuid)?.uuid
          if (!adopted) return false
          lastUuidMap.set(url, adopted)
        }
        continue
      }
      if (response.status === 401) return false
    } catch {
      // A network that failed is tried again, as any other status is.
    }
    if (attempt === TRIES) return false
    await sleep(Math.min(BASE_DELAY * 2 ** (attempt - 1), MAX_DELAY) / (options.faster ?? 1))
  }
  return false
}

/** The log; null where the server says anything but 200 and 404. */
export const getSessionLogs = async (url: string, { token }: Options): Promise<ReadonlyArray<Entry> | null> => {
  const response = await fetch(url, {
    headers: { Authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(20_000)
  })
  if (response.status === 404) return []
  if (response.status !== 200) return null
  const data: any = await response.json()
  return Array.isArray(data?.loglines) ? data.loglines : null
}

const sleep = (millis: number): Promise<void> => new Promise((done) => void setTimeout(done, millis))
