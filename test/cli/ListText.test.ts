import * as ListText from "@reprise/cli/ListText"
import * as Style from "@reprise/cli/Style"
import { assert, describe, it } from "@effect/vitest"
import { EntryLogError } from "@reprise/storage/EntryLog"
import { Schema } from "effect"
import { page, session } from "./listed.ts"

const lines = (...args: Parameters<typeof ListText.render>): ReadonlyArray<string> =>
  ListText.render(...args).split("\n")

describe("the table", () => {
  it("has a line for each session", () => {
    const marked = session(2, { tag: "web", origin: "agent", archived: true, title: "Slow\npage" })
    const silent = session(3, { size: 2_500_000 })
    const { branch: _, origin: __, title: ___, updatedAt: ____, ...bare } = silent
    assert.deepStrictEqual(lines(page(session(1), marked, bare), Style.plain(), false), [
      "session   last message        size  branch  title",
      "11111111  2026-01-01 12:01   15 kB  main    Title 1",
      "22222222  2026-01-01 12:02   15 kB  main    Slow page  #web  (agent)  (archived)",
      "33333333  –                 2.5 MB          (no title)  (no messages)"
    ])
  })

  it("of all projects says where", () => {
    const far = session(1, { cwd: "/home/somebody/a/directory/with/a/long/name" })
    assert.deepStrictEqual(lines(page(far), Style.plain(100), true), [
      "session   last message       size  directory                  branch  title",
      "11111111  2026-01-01 12:01  15 kB  …rectory/with/a/long/name  main    Title 1"
    ])
  })

  it("says that there is none, or that more follow", () => {
    assert.deepStrictEqual(lines(page(), Style.plain(), false), ["No sessions."])
    assert.strictEqual(
      lines({ ...page(session(1)), more: true }, Style.plain(), false).at(-1),
      "… and more (--offset goes on)"
    )
  })

  const Drawn = Schema.Struct({
    title: Schema.String,
    tag: Schema.String,
    branch: Schema.String,
    cwd: Schema.String,
    updatedAt: Schema.String
  })
  it.prop(
    "fits the terminal, whatever the logs say",
    { drawn: Drawn, columns: Schema.Int.check(Schema.isBetween({ minimum: 40, maximum: 160 })) },
    ({ columns, drawn }) => {
      const all = lines(page(session(1, drawn), session(2)), Style.plain(columns), true)
      return all.length === 3 && all.every((line) => Style.width(line) <= columns && !/\p{Cc}/u.test(line))
    }
  )

  it("gives up other columns before the title", () => {
    const narrow = lines(page(session(1), session(2)), Style.plain(60), true)
    assert.strictEqual(narrow[1], "11111111  2026-01-01 12:01  15 kB  Title 1")
  })
})

describe("what was passed by", () => {
  it("stands below: what could not be read first, and of the others the first", () => {
    const error = new EntryLogError({ operation: "read", path: "/p/b.jsonl", reason: "Denied" })
    const passed = [
      ...Array.from({ length: 8 }, (_, i) => ({ path: `/p/${i}.jsonl`, why: "Symlink" as const })),
      { path: "/p/b.jsonl", why: "Unreadable" as const, error }
    ]
    const all = lines({ ...page(session(1)), passed }, Style.plain(120), false).slice(3)
    assert.strictEqual(all[0], "Passed by (9)")
    assert.match(all[1]!, /b\.jsonl {2}not read: read failed at \/p\/b\.jsonl: permission denied/)
    assert.match(all[2]!, /0\.jsonl +a link; a transcript may not be one$/)
    assert.strictEqual(all.at(-1), "  … and 3 more (--json names all)")
  })
})
