/** What the log of a session holds after a crash, and what recovery makes of it. */
import * as Entry from "@reprise/domain/Entry"
import type * as Line from "@reprise/domain/Line"
import * as Projection from "@reprise/domain/Projection"
import * as Recovery from "@reprise/recovery/Recovery"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as FileEntryLog from "@reprise/storage/FileEntryLog"
import * as LineReader from "@reprise/storage/LineReader"
import { Effect } from "effect"
import * as assert from "node:assert/strict"

const all: Projection.Projection<Line.Located, ReadonlyArray<Line.Located>> = Projection.make({
  initial: () => [] as Array<Line.Located>,
  evolve: (seen: Array<Line.Located>, located: Line.Located) => {
    seen.push(located)
    return seen
  },
  extract: (seen) => seen
})

/** The texts of its prompts, each of which hangs on the one before, and how many lines are torn. */
export const read = (projects: string, sessionId: string) =>
  LineReader.fold(EntryLog.session("-work", sessionId), Projection.struct({ all, state: Recovery.projection })).pipe(
    Effect.catchIf(
      ({ reason }) => reason === "NotFound",
      () => Effect.succeed({ all: [] as ReadonlyArray<Line.Located>, state: Recovery.fold([]) })
    ),
    Effect.map(({ all, state }) => {
      const prompts = all.flatMap(({ entry }) => (Entry.is("user")(entry) ? [entry] : []))
      const texts = prompts.map(({ message }) => String(message.content))
      for (const [i, { parentUuid, sessionId: own }] of prompts.entries()) {
        assert.equal(own, sessionId, "an entry of another session")
        assert.equal(parentUuid, prompts[i - 1]?.uuid ?? null, `prompt ${texts[i]} hangs elsewhere`)
      }
      assert.deepEqual(
        state.conversation.map(({ uuid }) => uuid),
        prompts.map(({ uuid }) => uuid),
        "recovery shows something else"
      )
      return { texts, torn: all.filter(({ entry }) => Entry.is("malformed")(entry)).length }
    }),
    Effect.provide(FileEntryLog.layerWith({ projects }))
  )
