/**
 * Projects full of sessions in the sizes of real ones. Same options, same bytes.
 *
 *   skills ─ prompt ─ talk, sizes as measured, cut at `capKb` … │ last message │ metadata, where `restated`
 */
import * as fs from "node:fs"
import * as path from "node:path"
import { entries } from "./entries.ts"

/** `restated`: all metadata is said again at the end; else it stands once, in the middle. */
export interface Shape {
  readonly sessions: number
  readonly capKb: number
  readonly restated: boolean
}

/** Bytes of main transcripts as measured, at these quantiles; log-linear between them. */
const quantiles: ReadonlyArray<readonly [share: number, bytes: number]> = [
  [0, 300],
  [0.05, 1100],
  [0.1, 3400],
  [0.25, 30_400],
  [0.5, 99_000],
  [0.75, 613_000],
  [0.9, 1_619_000],
  [1, 4_190_000]
]

const sizeAt = (share: number): number => {
  const i = Math.max(
    0,
    quantiles.findLastIndex(([at]) => at < share)
  )
  const [[from, least], [to, most]] = [quantiles[i]!, quantiles[i + 1]!]
  return Math.exp(Math.log(least) + (Math.log(most) - Math.log(least)) * ((share - from) / (to - from)))
}

const TEMPLATES = 24
const sessionId = "00000000-0000-4000-8000-000000000001"

const metadata = (title: string): ReadonlyArray<object> => [
  { type: "last-prompt", lastPrompt: "And now?", leafUuid: "x", sessionId },
  { type: "custom-title", customTitle: title, sessionId },
  { type: "tag", tag: "bench", sessionId },
  { type: "agent-name", agentName: "builder", sessionId },
  { type: "agent-setting", agentSetting: "build", sessionId },
  { type: "mode", mode: "normal", sessionId },
  { type: "permission-mode", permissionMode: "default", sessionId },
  { type: "pr-link", prNumber: 7, prUrl: "https://example.test/pr/7", prRepository: "o/r", sessionId }
]

/** Messages begin with their parent, as clients write them. */
const lineOf = (entry: { readonly parentUuid?: unknown }): string =>
  `${JSON.stringify("parentUuid" in entry ? { parentUuid: entry.parentUuid, ...entry } : entry)}\n`

const linesOf = (all: ReadonlyArray<object>): string => all.map(lineOf).join("")

const template = (index: number, { capKb, restated }: Shape): Buffer => {
  const size = Math.min(capKb * 1024, sizeAt((index + 0.5) / TEMPLATES))
  const [common] = entries(1)
  const lines = [
    linesOf([
      { ...common, type: "attachment", attachment: { type: "skill_listing", content: "a skill, ".repeat(900) } },
      { type: "file-history-snapshot", messageId: "x", snapshot: { messageId: "x", trackedFileBackups: {} } },
      { ...common, type: "user", message: { role: "user", content: `Prompt of template ${index}.` } }
    ])
  ]
  let bytes = lines[0]!.length
  let isSaid = restated
  for (let seed = index + 2; bytes < size; seed += TEMPLATES) {
    for (const entry of entries(20, seed)) {
      if (bytes >= size) break
      if (!isSaid && bytes > size / 2) {
        lines.push(linesOf(metadata("In the middle")))
        isSaid = true
      }
      lines.push(linesOf([entry]))
      bytes += Buffer.byteLength(lines.at(-1)!)
    }
  }
  return Buffer.from(lines.join(""))
}

const START = 1.77e12

/** Fills a project below `projects`, each session seven seconds later than the one before. */
export const write = (projects: string, shape: Shape): void => {
  const directory = path.join(projects, "-bench")
  fs.mkdirSync(directory, { recursive: true })
  const templates = Array.from({ length: TEMPLATES }, (_, index) => template(index, shape))
  const [last] = entries(1, 1)
  for (let i = 0; i < shape.sessions; i++) {
    const time = START + 7000 * i
    const said = {
      ...last,
      type: "assistant",
      message: { role: "assistant", content: [{ type: "text", text: "Done." }] }
    }
    const end = [
      { ...said, timestamp: new Date(time).toISOString() },
      ...(shape.restated ? metadata(`Session ${i}`) : [])
    ]
    const file = path.join(directory, `00000000-0000-4000-8000-${String(i).padStart(12, "0")}.jsonl`)
    fs.writeFileSync(file, Buffer.concat([templates[(i * 7) % TEMPLATES]!, Buffer.from(linesOf(end))]), { mode: 0o600 })
    fs.utimesSync(file, time / 1000 + 0.01, time / 1000 + 0.01)
  }
}
