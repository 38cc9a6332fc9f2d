/**
 * What the logs say, against what clients were told.
 *
 * 1. What was told is in the log, in its order, once. With `isOver`, the log holds nothing else, and there is no other.
 * 2. Each turn has its results once, one last reply and one end, however often it was taken up.
 * 3. The log is legal: every message is in the conversation, drift is 0, a kill costs one line at most.
 */
import * as Content from "@reprise/domain/Content"
import * as Entry from "@reprise/domain/Entry"
import * as Finding from "@reprise/domain/Finding"
import type * as Line from "@reprise/domain/Line"
import * as Projection from "@reprise/domain/Projection"
import * as ModelMessages from "@reprise/recovery/ModelMessages"
import * as Recovery from "@reprise/recovery/Recovery"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as FileEntryLog from "@reprise/storage/FileEntryLog"
import * as LineReader from "@reprise/storage/LineReader"
import * as ProjectPath from "@reprise/storage/ProjectPath"
import { Effect } from "effect"
import * as assert from "node:assert/strict"
import * as fs from "node:fs"
import * as path from "node:path"
import type { Event } from "../../examples/agent-service/Api.ts"
import * as Turn from "../../examples/agent-service/Turn.ts"
import type * as Client from "./client.ts"

const all: Projection.Projection<Line.Located, ReadonlyArray<Entry.Entry>> = Projection.make({
  initial: () => [] as Array<Entry.Entry>,
  evolve: (seen: Array<Entry.Entry>, { entry }: Line.Located) => {
    seen.push(entry)
    return seen
  },
  extract: (seen) => seen
})

/** Compares every log with what its client was told, while nobody writes. */
export const logs = (
  projects: string,
  clients: ReadonlyArray<Client.Client>,
  options: { readonly kills: number; readonly isOver: boolean }
): Effect.Effect<void, EntryLog.EntryLogError> =>
  Effect.gen(function* () {
    const project = ProjectPath.keyOf(process.cwd())
    const folder = path.join(projects, project)
    const there = fs.existsSync(folder) ? fs.readdirSync(folder).filter((name) => name.endsWith(".jsonl")) : []
    const known = new Set(clients.map(({ sessionId }) => `${sessionId}.jsonl`))
    assert.deepEqual(
      there.filter((name) => !known.has(name)),
      [],
      "sessions that no client began"
    )
    for (const client of clients) {
      const isTold = client.asked.some(({ told }) => told.length > 0)
      if (!there.includes(`${client.sessionId}.jsonl`)) {
        assert.ok(!isTold, "a session is lost")
        continue
      }
      const log = EntryLog.session(project, client.sessionId)
      const read = yield* LineReader.fold(log, Projection.struct({ entries: all, state: Recovery.projection }))
      compare(client, read.entries, options)
      legal(client.sessionId, read, options.kills)
    }
  }).pipe(Effect.provide(FileEntryLog.layerWith({ projects })))

/** The turns of a log, by their prompts, against what was told. */
const compare = (
  { asked }: Client.Client,
  entries: ReadonlyArray<Entry.Entry>,
  options: Parameters<typeof logs>[2]
) => {
  const turns: Array<Array<Event>> = []
  for (const event of entries.flatMap((entry) => Turn.eventOf(entry) ?? [])) {
    if (event.type === "prompt") turns.push([event])
    else turns.at(-1)!.push(event)
  }
  assert.deepEqual(
    turns.map(([prompt]) => prompt!.uuid),
    asked.slice(0, turns.length).map(({ promptId }) => promptId),
    "prompts lost, doubled or in another order"
  )
  for (const [i, turn] of asked.entries()) {
    const written = turns[i] ?? []
    assert.deepEqual(written.slice(0, turn.told.length), turn.told, "told, and not in the log")
    if (options.isOver) assert.equal(written.length, turn.told.length, "in the log, and never told")
    if (written.at(-1)?.type === "end") complete(turn, written, options.kills)
  }
}

/** A turn that is over was worked through once. */
const complete = ({ steps }: Client.Asked, written: ReadonlyArray<Event>, kills: number): void => {
  const texts = (type: Event["type"]) =>
    written.filter((event) => event.type === type).flatMap(({ content }) => Content.blocks(content))
  const results = texts("result").filter(Content.isToolResult)
  const expected = Array.from({ length: steps }, (_, i) => [`measure ${i + 1}: ok`, `check ${i + 1}: ok`]).flat()
  assert.deepEqual(
    results.map(({ content }) => content),
    expected,
    "results lost or doubled"
  )
  const said = texts("reply")
    .filter(Content.isText)
    .map(({ text }) => text)
  assert.equal(said.filter((text) => text === `Done: ${steps} steps.`).length, 1, "not one last reply")
  assert.equal(written.filter(({ type }) => type === "end").length, 1, "not one end")
  assert.ok(said.length <= steps + 1 + kills, "taken up more often than it was interrupted")
}

const legal = (
  sessionId: string,
  {
    entries,
    state
  }: { readonly entries: ReadonlyArray<Entry.Entry>; readonly state: ReturnType<typeof Recovery.fold> },
  kills: number
): void => {
  const messages = entries.flatMap((entry) => (Entry.isMessage(entry) ? [entry] : []))
  const ids = messages.map(({ uuid }) => uuid)
  assert.equal(new Set(ids).size, ids.length, "an entry is doubled")
  assert.deepEqual(state.conversation.map(({ uuid }) => uuid).toSorted(), ids.toSorted(), "not all is conversation")
  for (const message of messages) assert.equal(message.sessionId, sessionId, "an entry of another session")
  assert.deepEqual(state.consistency.drift, [], "drift")
  assert.equal(state.consistency.unchecked, 0, "a checkpoint is not of the conversation")
  const torn = entries.filter(Entry.is("malformed")).length
  const losses = state.findings.filter((finding) => Finding.severities[finding.kind] === "loss")
  assert.ok(torn <= kills, `${torn} torn lines after ${kills} kills`)
  assert.equal(losses.length, torn, JSON.stringify(losses))
  const roles = ModelMessages.make(state).messages.map(({ role }) => role)
  assert.deepEqual(
    roles,
    roles.map((_, i) => (i % 2 === 0 ? "user" : "assistant")),
    "roles do not alternate"
  )
}
