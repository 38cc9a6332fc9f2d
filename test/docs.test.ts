/**
 * Tests of what people read: the README quotes programs that run, links lead somewhere, and the examples do what they say.
 */
import { assert, describe, it } from "@effect/vitest"
import { execFile, execFileSync } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import { promisify, stripVTControlCharacters } from "node:util"
import * as compiled from "./compiled.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
const read = (file: string): string => fs.readFileSync(path.join(root, file), "utf8")
const readme = read("README.md")
const { FORCE_COLOR: _, ...env } = compiled.env

/** A marked part of a program, as a README shows it. */
const region = (file: string, name: string): string => {
  const [, code] = new RegExp(`^// #region ${name}\n(.*?)^// #endregion$`, "ms").exec(read(file)) ?? []
  assert.isDefined(code, `${file} has no region ${name}`)
  return code!
}

/** The blocks of a page; those that quote a program name it in a comment above. */
const blocksOf = (page: string) =>
  Array.from(page.matchAll(/(?:<!-- (\S+)#(\S+) -->\n)?^```(\w*)\n(.*?)^```/gms), (match) => ({
    file: match[1],
    name: match[2],
    language: match[3],
    code: match[4]!
  }))

const pages = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", ...filesUnder("docs", ".md")]

describe("code", () => {
  for (const page of pages) {
    it(`in ${page} is that of programs, word for word`, () => {
      for (const { code, file, name } of blocksOf(read(page)).filter(({ language }) => language === "ts")) {
        assert.isDefined(file, `a block names no file:\n${code}`)
        assert.strictEqual(code, region(file!, name!))
      }
    })
  }
})

describe("the README", () => {
  const blocks = blocksOf(readme)
  const code = blocks.filter(({ language }) => language === "ts")

  it("embeds in 15 lines, projects in 10, and states a property in 10", () => {
    const lines = Object.fromEntries(code.map(({ code: quoted, name }) => [name, quoted.trimEnd().split("\n").length]))
    assert.hasAllKeys(lines, ["embed", "projection", "property"])
    assert.isAtMost(lines["embed"]!, 15)
    assert.isAtMost(lines["projection"]!, 10)
    assert.isAtMost(lines["property"]!, 10)
  })

  it("shows what its commands print", () => {
    const consoles = blocks.filter(({ language }) => language === "console")
    assert.isNotEmpty(consoles)
    for (const { code: shown } of consoles) {
      const [, command, printed] = /^\$ npx reprise (.*?)\n(.*)$/s.exec(shown) ?? []
      const args = ["packages/cli/src/main.ts", ...command!.split(" ")]
      const ran = execFileSync(process.execPath, args, { cwd: root, env, encoding: "utf8" })
      assert.strictEqual(printed, ran)
    }
  })

  it("is short", () => {
    assert.isAtMost(readme.trimEnd().split("\n").length, 130)
  })
})

describe("links", () => {
  for (const page of pages) {
    it(`of ${page} lead somewhere`, () => {
      const broken = Array.from(withoutCode(read(page)).matchAll(/\]\(([^)\s]+)\)/g), ([, target]) => target!)
        .filter((target) => !/^[a-z]+:/.test(target))
        .filter((target) => !resolves(page, target))
      assert.deepStrictEqual(broken, [])
    })
  }

  it("docs/ARCHITECTURE.md names modules that there are", () => {
    const tree = /^packages\/domain\/src\/.*?(?=^```)/ms.exec(read("docs/ARCHITECTURE.md"))?.[0] ?? ""
    const missing: Array<string> = []
    let folder = ""
    for (const line of tree.split("\n")) {
      const [, found] = /^(packages\/\w+\/src\/)/.exec(line) ?? []
      if (found !== undefined) folder = found
      else if (!line.startsWith("  ")) break
      const names = line.slice(2, 30).match(/\b[A-Z]\w+/g) ?? []
      for (const name of folder === "" ? [] : names) {
        if (!fs.existsSync(path.join(root, folder, `${name}.ts`))) missing.push(`${folder}${name}.ts`)
      }
    }
    assert.isAbove(tree.length, 1000)
    assert.deepStrictEqual(missing, [])
  })
})

describe("the examples", () => {
  /** Runs an example with a directory for temporary files of its own; gives its output and what it left there. */
  const run = async (example: string) => {
    const directory = fs.mkdtempSync(path.join(os.tmpdir(), "reprise-docs-"))
    try {
      const options = { cwd: root, env: { ...env, TMPDIR: directory }, maxBuffer: 1 << 24 }
      const { stderr, stdout } = await promisify(execFile)(process.execPath, [path.join("examples", example)], options)
      return { stdout, stderr, left: fs.readdirSync(directory), directory }
    } finally {
      fs.rmSync(directory, { recursive: true, force: true })
    }
  }

  for (const [example, printed] of [
    ["01-embed.ts", /^user +How .*\nassistant +So far .*: 1\.\nuser +And now\?\nassistant +So far .*: 3\.\n$/],
    ["02-projection.ts", /^20 messages, of which 14 are the conversation\ncalls of Grep: 1\ncalls of Bash: 2\n$/],
    ["03-property.ts", /^held for 500 cuts of u1-a1-rA-a2-u2-a3-rB-rC-a4\n$/],
    [
      "04-findings.ts",
      /^repair {2}line 23 {2}The parent .*\nrepair {2}line 15 {2}1 entry of .*\nnote {2}line 24 {2}Checkpoint .*\n$/
    ],
    ["05-writing.ts", /^read only: process \d+ on \S+ has the session since .*\n1 message .* refused: AppendError\n$/],
    ["06-resume.ts", /^3 messages to send; ended: interrupted-turn\n$/],
    ["07-generators.ts", /^sees: held 100 times\nsurvives: held 100 times\nlawful: held 100 times\n$/],
    [
      "08-client.ts",
      /^user +text {2}What .*\nassistant +text tool_use {2}I .*\nuser +tool_result\nassistant +text {2}It is 12:00\.\n$/
    ],
    [
      "09-history.ts",
      /^read .*: suffix\nuser +It begins .* Who .*\nassistant +About: .*\nuser +Does .*\nassistant +It does\.\n.*: 90 by all, 30 by .*\n$/
    ],
    ["10-remote.ts", /^first machine: 0 bytes behind, Live\nuser +Which .*\nassistant +The second one\.\n$/],
    ["11-sessions.ts", /^Which page is slow\? \(fork\): 2 messages; imported into \/home\/other\n$/]
  ] as const) {
    it(`${example} runs`, async () => {
      const { left, stderr, stdout } = await run(example)
      assert.match(stdout, printed)
      assert.deepStrictEqual([stderr, left], ["", []])
    })
  }

  it("every example is run here, or by main.ts; the service by the tests of its own", () => {
    const examples = filesUnder("examples", ".ts").filter((file) => !file.startsWith("examples/agent-service/"))
    assert.deepStrictEqual(examples, [
      "examples/01-embed.ts",
      "examples/02-projection.ts",
      "examples/03-property.ts",
      "examples/04-findings.ts",
      "examples/05-writing.ts",
      "examples/06-resume.ts",
      "examples/07-generators.ts",
      "examples/08-client.ts",
      "examples/09-history.ts",
      "examples/10-remote.ts",
      "examples/11-sessions.ts",
      "examples/main.ts",
      "examples/service.ts",
      "examples/temporary.ts"
    ])
  })

  it("main.ts records, breaks and resumes a session, explains another, and leaves nothing behind", async () => {
    const [{ left, stderr, stdout }, again] = await Promise.all([run("main.ts"), run("main.ts")])
    assert.deepStrictEqual([stderr, left], ["", []])
    assert.strictEqual(withoutIds(again.stdout), withoutIds(stdout))
    assert.strictEqual(stripVTControlCharacters(stdout), stdout)
    const [, first, second, third, bundled] = stdout.split(/^── .*\n/m)
    assert.match(first!, /\.jsonl ends in\n\{"parentUuid":"[^\n]{100,}\n/)
    assert.isFalse(isJson(first!.trimEnd().split("\n").at(-1)!))

    assert.include(second!, "11 messages: 11 in the conversation")
    assert.match(second!, /^ {2}loss +line 12 +120 bytes end in the middle of an entry/m)
    assert.match(second!, /^ {2}repair +line +\d+ +2 entries of the parallel calls of reply msg_1 put back\.$/m)
    assert.match(second!, /^ {2}note +line 10 +Call toolu_4 of \w+ was never answered\.$/m)
    assert.match(second!, /^The last turn was interrupted after \w+; the model is sent "Continue/m)

    assert.match(third!, /^Make the search page fast$/m)
    assert.include(third!, "14 messages: 14 in the conversation")
    assert.include(third!, "The last turn has ended")
    assert.notInclude(third!, "Checkpoint")
    assert.deepStrictEqual(spoken(third!).slice(0, 11), spoken(second!))

    for (const line of [
      "20 messages: 14 in the conversation, 4 archived, 2 removed",
      "  archived   4 messages before the boundary on line 9; 2 from before it are kept",
      "  removed    2 messages by a snip: 3c8d2fe5 ba983cf0",
      "  sidechain  2 entries of agent a7f3, from 148a52c9",
      "  progress   2 legacy entries, looked through: no messages, but parents of some",
      "  repair  line 23  The parent 1e8a09a9 of 1f7ac191 is in no line; it hangs on d013b392.",
      "  repair  line 15  1 entry of the parallel calls of reply msg_04 put back.",
      "  note    line 24  Checkpoint c0b9c477 counted 14 entries before it, 13 were recovered."
    ]) {
      assert.include(bundled!.split("\n"), line)
    }
  })
})

/** What is the same in each run. */
function withoutIds(text: string): string {
  return text
    .replaceAll(/\S*[/\\]reprise-\w+/g, "DIRECTORY")
    .replaceAll(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b[0-9a-f]{8}\b/g, "ID")
}

/** The lines of the conversation, without their ids. */
function spoken(text: string): ReadonlyArray<string> {
  return text
    .split("\n")
    .filter((line) => /^ {2}\w{8} {2}/.test(line))
    .map((line) => line.slice(12))
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function withoutCode(page: string): string {
  return page.replaceAll(/^```.*?^```$/gms, "").replaceAll(/`[^`\n]*`/g, "")
}

/** Whether a link leads to a file, and to a heading of it where it names one. */
function resolves(page: string, target: string): boolean {
  const [file = "", heading] = target.split("#")
  const found = file === "" ? page : path.join(path.dirname(page), decodeURIComponent(file))
  if (!fs.existsSync(path.join(root, found))) return false
  if (heading === undefined) return true
  return Array.from(read(found).matchAll(/^#+ (.+)$/gm), ([, title]) => slug(title!)).includes(heading)
}

function slug(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-")
}

function filesUnder(folder: string, extension: string): ReadonlyArray<string> {
  return fs
    .readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(extension))
    .map((file) => `${folder}/${file.replaceAll(path.sep, "/")}`)
    .toSorted()
}
