import * as Said from "@reprise/cli/Said"
import * as Notation from "@reprise/domain/testing/Notation"
import type * as Entry from "@reprise/domain/Entry"
import { assert, describe, it } from "@effect/vitest"

const said = (picture: string): ReadonlyArray<string> => {
  const messages = Notation.entries(picture) as ReadonlyArray<Entry.Message>
  const tools = Said.tools(messages.map((entry) => ({ entry })))
  return messages.map((entry) => {
    const { role, text } = Said.of(entry, tools)
    return `${role}: ${text}`
  })
}

describe("what is said", () => {
  for (const [picture, ...expected] of [
    ["u1-a1", "user: [u1]", "assistant: [a1]"],
    ["u1-a1(A)-rA", "user: [u1]", "assistant: → Tool ", "result: ← Tool: result A"],
    ["rB", "result: ← B: result B"],
    ["m1", "meta: [m1]"],
    ["t1", "attachment: critical_system_reminder <system-reminder>\n[t1]\n</system-reminder>"],
    ["s1", "system: away_summary [s1]"],
    ["B1-S1", "system: compact_boundary Conversation compacted", "summary: [S1]"]
  ] as const) {
    it(`in ${picture}`, () => assert.deepStrictEqual(said(picture), expected))
  }
})
