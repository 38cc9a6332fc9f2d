/**
 * Floors of listing: the least code that does the job in plain Node. They believe any bytes that look like a title.
 */
import { Buffer } from "node:buffer"
import * as fs from "node:fs"
import * as path from "node:path"
import { type Args, timed, type Variant } from "./compare.ts"

const WINDOW = 1 << 16
const LF = 0x0a
const QUOTE = 0x22
const BACKSLASH = 0x5c

const held: { rows?: ReadonlyArray<unknown> } = {}

/** A string of JSON that begins behind a quote. */
const stringAt = (bytes: Buffer, from: number): string | undefined => {
  for (let to = bytes.indexOf(QUOTE, from); to >= 0; to = bytes.indexOf(QUOTE, to + 1)) {
    let slashes = 0
    while (bytes[to - 1 - slashes] === BACKSLASH) slashes++
    if (slashes % 2 === 1) continue
    const raw = bytes.toString("utf8", from, to)
    return raw.includes("\\") ? JSON.parse(`"${raw}"`) : raw
  }
  return undefined
}

const needle = (text: string): Buffer => Buffer.from(text)
const [TITLE, AI_TITLE, TAG] = ['"customTitle":"', '"aiTitle":"', '"tag":"'].map(needle) as [Buffer, Buffer, Buffer]
const [USER, CONTENT] = ['"type":"user"', '"content":"'].map(needle) as [Buffer, Buffer]
const not = ['"tool_result"', '"isMeta":true', '"isCompactSummary":true'].map(needle)

const summaryOf = (head: Buffer, tail: Buffer) => {
  const last = (key: Buffer): string | undefined => {
    for (const bytes of [tail, head]) {
      const at = bytes.lastIndexOf(key)
      if (at >= 0) return stringAt(bytes, at + key.length)
    }
    return undefined
  }
  let prompt: string | undefined
  for (let from = 0; from < head.length && prompt === undefined;) {
    const lf = head.indexOf(LF, from)
    const line = head.subarray(from, lf < 0 ? head.length : lf)
    from += line.length + 1
    const at = line.indexOf(USER)
    if (at < 0 || not.some((key) => line.includes(key))) continue
    const content = line.indexOf(CONTENT, at)
    if (content >= 0) prompt = stringAt(line, content + CONTENT.length)?.slice(0, 200)
  }
  return { title: last(TITLE) ?? last(AI_TITLE), tag: last(TAG), prompt }
}

const namesIn = (directory: string): ReadonlyArray<string> =>
  fs.readdirSync(directory).filter((name) => name.endsWith(".jsonl"))

const listSync = (directory: string, names: ReadonlyArray<string> = namesIn(directory)) => {
  const [head, tail] = [Buffer.allocUnsafe(WINDOW), Buffer.allocUnsafe(WINDOW)]
  return names.map((name) => {
    const fd = fs.openSync(path.join(directory, name), "r")
    const { mtimeMs, size } = fs.fstatSync(fd)
    const front = fs.readSync(fd, head, 0, WINDOW, 0)
    const back = size > WINDOW ? fs.readSync(fd, tail, 0, WINDOW, size - WINDOW) : 0
    fs.closeSync(fd)
    return { name, mtime: mtimeMs, size, ...summaryOf(head.subarray(0, front), tail.subarray(0, back)) }
  })
}

const statAll = (directory: string) =>
  namesIn(directory).map((name) => {
    const { mtimeMs, size } = fs.statSync(path.join(directory, name))
    return { name, mtime: mtimeMs, size }
  })

/** A job on the project of a directory; `setup` gets it too. */
export const job = (
  note: string,
  list: (directory: string, index: string) => ReadonlyArray<unknown> | Promise<ReadonlyArray<unknown>>,
  setup: (directory: string, index: string) => unknown = () => undefined
): Variant => ({
  note,
  setup: async (args: Args) => {
    const state = {
      directory: path.join(String(args["projects"]), "-bench"),
      index: path.join(fs.mkdtempSync(path.join(args.scratch, "index-")), "index")
    }
    await setup(state.directory, state.index)
    return state
  },
  run: async ({ directory, index }) => {
    const time = await timed(async () => {
      held.rows = await list(directory, index)
    })
    return { n: held.rows!.length, ...time }
  }
})

const PAGE = 50

/** By name. */
export const floors: { readonly [name: string]: Variant } = {
  sync: job("floor: open, fstat, 64 KB head and tail, close; byte search", (directory) => listSync(directory)),
  readdirStat: job("bound: readdir and stat", statAll),
  indexFloor: job(
    "floor with an index: stat decides whether a row still holds",
    (directory, index) => {
      const rows = new Map<string, { readonly mtime: number }>(
        JSON.parse(fs.readFileSync(index, "utf8")).map((row: { readonly name: string }) => [row.name, row])
      )
      return statAll(directory).map(({ mtime, name }) => (rows.get(name)?.mtime === mtime ? rows.get(name) : null))
    },
    (directory, index) => fs.writeFileSync(index, JSON.stringify(listSync(directory)))
  ),
  firstPage: job("floor: stat of all, the newest 50 read", (directory) => {
    const newest = statAll(directory).toSorted((a, b) => b.mtime - a.mtime)
    return listSync(
      directory,
      newest.slice(0, PAGE).map(({ name }) => name)
    )
  })
}
