import { assert, describe, it } from "@effect/vitest"
import * as SessionSource from "@reprise/domain/SessionSource"

describe("a source", () => {
  it("is one of four, and tells which", () => {
    const told = [
      SessionSource.latest("/work"),
      SessionSource.id("7d1f0c52"),
      SessionSource.path("/a.jsonl"),
      SessionSource.loaded({ path: "/b.jsonl", entries: [] }),
      SessionSource.loaded({ path: "/c.jsonl" })
    ].map(
      SessionSource.match({
        Latest: ({ directory }) => `latest of ${directory}`,
        Id: ({ sessionId }) => sessionId,
        Path: ({ path }) => path,
        Loaded: ({ entries, path }) => `${path}, ${entries === undefined ? "to be read" : "as it is"}`
      })
    )
    assert.deepStrictEqual(told, [
      "latest of /work",
      "7d1f0c52",
      "/a.jsonl",
      "/b.jsonl, as it is",
      "/c.jsonl, to be read"
    ])
  })
})

describe("an error", () => {
  it("says what was expected, what was found, where, and what to do", () => {
    const messages = [
      new SessionSource.SessionNotFound({ expected: "a session", sought: "7d1f", near: ["7d2f", "8d1f"] }),
      new SessionSource.SessionNotFound({ expected: "the transcript", sought: "/a.jsonl", near: [] }),
      new SessionSource.AmbiguousSession({ sought: "7d1f", paths: ["/a/7d1f.jsonl", "/b/7d1f.jsonl"] }),
      new SessionSource.NotATranscript({ path: "/a.jsonl", found: "an empty file" }),
      new SessionSource.SourceFailed({ operation: "read", path: "/a.jsonl", found: "permission denied" })
    ].map(({ message }) => message)
    assert.deepStrictEqual(messages, [
      "expected a session 7d1f, found none; did you mean 7d2f, 8d1f? Otherwise list the sessions (`reprise list --all`) and name one of them",
      "expected the transcript /a.jsonl, found none; list the sessions (`reprise list --all`) and name one of them",
      "expected one session 7d1f, found 2; name one by its path: /a/7d1f.jsonl, /b/7d1f.jsonl",
      "/a.jsonl: expected the transcript of a session, found an empty file",
      "/a.jsonl: expected to read the log of a session, found: permission denied"
    ])
  })
})
