import { assert, describe, it } from "@effect/vitest"
import * as Lane from "@reprise/domain/Lane"
import * as ProjectPath from "@reprise/storage/ProjectPath"
import { ConfigProvider, Effect, Schema } from "effect"
import * as os from "node:os"
import * as path from "node:path"

describe("project key (FORMAT §1)", () => {
  const table: ReadonlyArray<readonly [string, string]> = [
    ["/home/ada/my.app_v2", "-home-ada-my-app-v2"],
    ["C:\\Users\\ada\\x y", "C--Users-ada-x-y"],
    ["/w/\u00e9", "-w--"],
    ["/w/e\u0301", "-w-e-"],
    ["/w/😀x", "-w---x"],
    ["/", "-"]
  ]
  for (const [directory, key] of table) {
    it(`${directory} gives ${key}`, () => assert.strictEqual(ProjectPath.keyOf(directory), key))
  }

  it("200 units are kept whole", () => {
    const key = ProjectPath.keyOf(`/home/ada/${"x".repeat(190)}`)
    assert.strictEqual(key, `-home-ada-${"x".repeat(190)}`)
  })

  it("201 units are cut to 200 and get a hash", () => {
    const key = ProjectPath.keyOf(`/home/ada/${"x".repeat(191)}`)
    assert.strictEqual(key.length, 207)
    assert.isTrue(key.endsWith("x-u3zu2i"))
  })

  it.effect.prop("is made of letters, digits and dashes, for any path", [Schema.NonEmptyString], ([directory]) =>
    Effect.sync(() => assert.match(ProjectPath.keyOf(directory), /^[A-Za-z0-9-]{1,208}$/))
  )
})

describe("transcript path", () => {
  const project = "/c/projects/-w"
  const sessionId = "00000000-0000-4000-8000-000000000001"
  const table: ReadonlyArray<readonly [string, Lane.Lane, string]> = [
    ["main", Lane.main, `${project}/${sessionId}.jsonl`],
    ["sidechain", Lane.sidechain("a1b2c3"), `${project}/${sessionId}/subagents/agent-a1b2c3.jsonl`],
    [
      "sidechain in a sub-folder",
      Lane.sidechain("a1b2c3", ["workflows", "wf_1"]),
      `${project}/${sessionId}/subagents/workflows/wf_1/agent-a1b2c3.jsonl`
    ]
  ]
  for (const [name, lane, file] of table) {
    it(`${name}: there and back`, () => {
      assert.strictEqual(ProjectPath.transcript({ project, sessionId, lane }), file)
      assert.deepStrictEqual(ProjectPath.parse(file), { project, sessionId, lane })
    })
  }

  it("an agent's file in the old place is a log of its own name", () => {
    const place = ProjectPath.parse(`${project}/agent-a1.jsonl`)
    assert.deepStrictEqual(place, { project, sessionId: "agent-a1", lane: Lane.main })
  })

  it("other files are no transcripts", () => {
    for (const file of ["/a/b.json", "/a/.jsonl", "/a/b.jsonl.bak"]) assert.isUndefined(ProjectPath.parse(file))
  })

  it("only a UUID, in any case, names a session", () => {
    assert.strictEqual(ProjectPath.sessionOf(`${sessionId}.jsonl`), sessionId)
    assert.isDefined(ProjectPath.sessionOf("ABCDEF00-0000-4000-8000-000000000001.jsonl"))
    for (const name of ["agent-a1.jsonl", "notes.jsonl", sessionId, `${sessionId}.json`]) {
      assert.isUndefined(ProjectPath.sessionOf(name))
    }
  })
})

describe("configuration", () => {
  const read = (env: Record<string, string>) =>
    ProjectPath.projectsDirectory.pipe(
      Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown(env))
    )

  it.effect("CLAUDE_CONFIG_DIR wins; unset or empty, it is .claude in the home directory", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* read({ CLAUDE_CONFIG_DIR: "/c" }), path.join("/c", "projects"))
      for (const env of [{}, { CLAUDE_CONFIG_DIR: "" }] as const) {
        assert.strictEqual(yield* read(env), path.join(os.homedir(), ".claude", "projects"))
      }
    })
  )
})
