/**
 * A server of the seed's protocol, taken literally: it keeps a log for each session, compares `Last-Uuid` with its last
 * entry, and knows no entry again. What its network and its operators do to it is up to a test.
 */
import * as Ingress from "@reprise/ingress/Ingress"
import { NotFound, Unauthorized, Unavailable } from "@reprise/ingress/IngressError"
import { Effect, Stream } from "effect"
import { type Answer, json, serve } from "./scripted.ts"

/** How a request goes. `drop-before`, `drop-after`: the connection is cut, before or after the entry was stored. */
export type PutFate =
  | "well"
  | "drop-before"
  | "drop-after"
  | "foreign-first"
  | "drop-after-then-foreign"
  | "no-header"
  | 503
  | 401
export type GetFate = "well" | "garbage" | "short" | "cut" | 401 | 404

export class SeedLog {
  entries: Array<{ readonly uuid: string; readonly text: string }> = []
  puts: Array<string | undefined> = []
  gets = 0
  #foreign = 0

  get head(): string | undefined {
    return this.entries.at(-1)?.uuid
  }

  /** Another program appends. */
  intrude(): void {
    const uuid = `foreign-${this.#foreign++}`
    this.entries.push({ uuid, text: JSON.stringify({ type: "user", uuid, parentUuid: null }) })
  }

  put(text: string, lastUuid: string | undefined, fate: PutFate): Answer {
    this.puts.push(lastUuid)
    if (fate === 503 || fate === 401) return { status: fate }
    if (fate === "drop-before") return { break: true }
    if (fate === "foreign-first") this.intrude()
    const { uuid } = JSON.parse(text) as { readonly uuid: string }
    if (lastUuid !== this.head) {
      const header = this.head === undefined || fate === "no-header" ? undefined : { "x-last-uuid": this.head }
      return json({ error: { message: "conflict" } }, 409, header)
    }
    this.entries.push({ uuid, text })
    if (fate === "drop-after-then-foreign") this.intrude()
    return fate === "drop-after" || fate === "drop-after-then-foreign" ? { break: true } : json({ ok: true })
  }

  get(fate: GetFate): Answer {
    this.gets++
    const texts = this.entries.map(({ text }) => text)
    if (fate === "garbage") return { body: "<html>not here</html>" }
    if (fate === "cut") return { body: `{"loglines":[${texts.join(",")}`, break: true }
    if (fate === "short") return { body: `{"loglines":[${texts.slice(0, texts.length >> 1).join(",")}]}` }
    return fate === "well" ? { body: `{"loglines":[${texts.join(",")}]}` } : json({}, fate)
  }
}

const away = new Ingress.Unreachable({ urls: ["memory:"], found: "lost" })

/** The same log behind the port of the client, without a network. */
export const inProcess = (log: SeedLog, put: () => PutFate, get: () => GetFate): Ingress.Ingress["Service"] => {
  const failed = ({ break: isCut, status }: Answer): Ingress.Failure => {
    if (isCut) return away
    return status === 401 ? new Unauthorized() : status === 404 ? new NotFound() : new Unavailable({ retryAfter: 0 })
  }
  const no = Effect.fail(new NotFound())
  return {
    urls: ["memory:"],
    put: (_, entry, lastUuid) =>
      Effect.suspend((): Effect.Effect<Ingress.Put, Ingress.Failure> => {
        const answer = log.put(entry, lastUuid, put())
        if (answer.status === 409) return Effect.succeed({ _tag: "Refused", head: answer.headers?.["x-last-uuid"] })
        return answer.status === 200 ? Effect.succeed({ _tag: "Stored" }) : Effect.fail(failed(answer))
      }),
    loglines: () =>
      Stream.suspend(() => {
        const answer = log.get(get())
        return answer.body === undefined || answer.status === 401
          ? Stream.fail(failed(answer))
          : Stream.succeed(Buffer.from(answer.body))
      }),
    append: () => no,
    lines: () => Stream.fromEffect(no),
    streams: () => no,
    claim: () => no,
    sessions: () => Stream.fromEffect(no),
    remove: () => no
  }
}

/** A server, its log, and the fates of what comes next: none left, all goes well. */
export const make = Effect.gen(function* () {
  const log = new SeedLog()
  const fates: { put: Array<PutFate>; get: Array<GetFate> } = { put: [], get: [] }
  const { asked, url } = yield* serve(({ body, headers, method }) =>
    method === "PUT"
      ? log.put(body, headers["last-uuid"] as string | undefined, fates.put.shift() ?? "well")
      : log.get(fates.get.shift() ?? "well")
  )
  return { log, fates, url, asked }
})
