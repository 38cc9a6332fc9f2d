import { assert, describe, it } from "@effect/vitest"
import * as Line from "@reprise/domain/Line"
import * as Projection from "@reprise/domain/Projection"
import * as SessionMetadata from "@reprise/domain/SessionMetadata"
import * as SessionDigest from "@reprise/ingress/SessionDigest"
import * as StreamLine from "@reprise/ingress/StreamLine"
import { Arbitrary, Schema } from "effect"

const encode = (value: object) => new TextEncoder().encode(JSON.stringify(value))
const lines = (values: ReadonlyArray<object>) => values.map((value) => StreamLine.ofBytes(encode(value), "k"))
const at = (second: number) => ({ timestamp: `2026-01-01T00:00:${String(second).padStart(2, "0")}.000Z` })
const user = (content: string, second: number, cwd = "/a") => ({
  type: "user",
  uuid: content,
  message: { role: "user", content },
  cwd,
  gitBranch: `b${second}`,
  ...at(second)
})

const Value: Arbitrary.Arbitrary<object> = Arbitrary.map(
  Arbitrary.all([
    Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 6 }))),
    Arbitrary.schema(Schema.Literals(["", "x", "y"]))
  ]),
  ([kind, text]) =>
    [
      user(text, 1),
      user(`<command-name>/${text}</command-name>`, 1, "/b"),
      { type: "tag", tag: text },
      { type: "custom-title", customTitle: text },
      { type: "ai-title", aiTitle: text },
      { type: "last-prompt", lastPrompt: text },
      { type: "summary", summary: text, leafUuid: "l" }
    ][kind]!
)

describe("SessionDigest", () => {
  it.prop(
    "says what the metadata of the whole session say, however it is cut into batches",
    { values: Arbitrary.array(Value, { maxLength: 8 }), size: Schema.Literals([1, 2, 3]) },
    ({ size, values }) => {
      let digest = SessionDigest.empty
      for (let i = 0; i < values.length; i += size)
        digest = SessionDigest.merge(digest, SessionDigest.of(lines(values.slice(i, i + size))))
      const whole = values.flatMap((value) =>
        Line.decode(encode(value), { line: 1, byteStart: 0, byteEnd: 0 }).map(({ entry }) => entry)
      )
      const { createdAt, cwd, firstPrompt, gitBranch, tag, title, updatedAt } = Projection.fold(
        SessionMetadata.projection,
        whole
      )
      const said = Object.entries({ title, tag, firstPrompt, cwd, gitBranch, createdAt, updatedAt })
      assert.deepStrictEqual(
        { ...SessionDigest.summaryOf(digest) },
        Object.fromEntries(said.filter(([, value]) => value !== undefined))
      )
    }
  )

  it("lines that are no entries say nothing", () => {
    const torn = StreamLine.ofBytes(new TextEncoder().encode('{"type":"tag","tag":"x"'), "k")
    assert.deepStrictEqual(SessionDigest.of([torn, ...lines([{}, { type: 7, tag: "x" }])]), SessionDigest.empty)
    assert.deepStrictEqual(SessionDigest.summaryOf(SessionDigest.empty), {})
  })

  it("a directory is a project", () => {
    assert.strictEqual(SessionDigest.of(lines([user("x", 1, "/srv/app")])).first.project, "-srv-app")
  })
})
