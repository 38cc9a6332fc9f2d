/**
 * Tests of the repository itself: what a reader of any file may rely on, checked by scanning text.
 *
 * Every rule is one test that collects its breaches as `file:line what` and asks for none.
 */
import { assert, describe, it } from "@effect/vitest"
import * as fs from "node:fs"
import * as path from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))

/** Whom each package may know. `domain` is below all, `cli` above all; `recovery` and `storage` never meet. */
const mayImport: Record<string, ReadonlyArray<string>> = {
  domain: [],
  recovery: ["domain"],
  storage: ["domain"],
  ingress: ["domain", "storage"],
  cli: ["domain", "recovery", "storage", "ingress"]
}
const packages = Object.keys(mayImport)
const purePackages = new Set(["domain", "recovery"])

/** Modules of `effect` that reach outside, or read a clock or chance. */
const impureModules =
  /^effect\/(FileSystem|Path|Clock|Random|Console|Crypto|Terminal|Stdio|PlatformError|Runtime|ManagedRuntime|Glob|Dns|cli|cluster|eventlog|http|http-api|observability|persistence|process|rpc|socket|sql|workflow)(\/|$)/

/** What a pure package never says, and why not. */
const impureWords: ReadonlyArray<readonly [RegExp, string]> = [
  [/\bDate\.now\b|\bnew Date\(\s*\)|\bperformance\.|\bDateTime\.now/, "reads the clock"],
  [/\bMath\.random\b|\bcrypto\./, "draws from chance"],
  [/\bconsole\b/, "prints"],
  [/\basync\b|\bawait\b|\bnew Promise\b/, "leaves the synchronous world"],
  [/\bprocess\b|\bglobalThis\b|\bfetch\(/, "reaches for the host"],
  [/\b(set|clear)(Timeout|Interval|Immediate)\b|\bqueueMicrotask\b/, "uses a timer"],
  [/\bEffect\.(run\w*|sleep|promise|tryPromise|callback)\b/, "runs or awaits an effect"]
]

/** What no library package says (ARCHITECTURE, STYLE): time and chance come from services there. */
const hostWords: ReadonlyArray<readonly [RegExp, string]> = [
  [/\bDate\.now\b|\bnew Date\(\s*\)/, "reads the clock past `Clock`"],
  [/\bMath\.random\b/, "draws from chance past `Random`"],
  [/\basync\b/, "is an async function"]
]

const bannedWords = new Set(["manager", "utils", "util", "helpers", "helper", "handle", "process", "apply", "replay"])

/** A source file. `code` has no comments, `bare` no string contents either; both keep every line where it was. */
interface Source {
  readonly file: string
  readonly package: string
  readonly module: string
  readonly text: string
  readonly code: string
  readonly bare: string
}

const sources: ReadonlyArray<Source> = packages.flatMap((name) => {
  const src = path.join(root, "packages", name, "src")
  return filesUnder(src, ".ts").map((module) => {
    const text = fs.readFileSync(path.join(src, module), "utf8")
    return {
      file: `packages/${name}/src/${module}`,
      package: name,
      module,
      text,
      code: blank(text, { strings: false }),
      bare: blank(text, { strings: true })
    }
  })
})
const manifests = new Map(packages.map((name) => [name, readJson(`packages/${name}/package.json`)]))

describe("who may know whom", () => {
  it("imports between packages point one way: domain ← recovery, storage; storage ← ingress; cli → all", () => {
    none(
      eachImport((source, specifier) => {
        const other = /^@reprise\/([^/]+)/.exec(specifier)?.[1]
        if (other !== undefined) {
          return mayImport[source.package]?.includes(other) ? undefined : `may not import ${specifier}`
        }
        if (!specifier.startsWith(".")) return undefined
        const target = path.posix.join(path.posix.dirname(source.module), specifier)
        return target.startsWith("..") ? `leaves its package through ${specifier}` : undefined
      })
    )
  })

  it("package.json lists the packages that the direction allows, and effect as a peer", () => {
    const breaches: Array<string> = []
    for (const [name, manifest] of manifests) {
      const file = `packages/${name}/package.json`
      const dependencies = Object.keys(manifest.dependencies ?? {})
      for (const dependency of dependencies) {
        const own = /^@reprise\/(.+)/.exec(dependency)?.[1]
        if (own !== undefined && !mayImport[name]?.includes(own))
          breaches.push(`${file} may not depend on ${dependency}`)
        if (own === undefined && purePackages.has(name)) breaches.push(`${file} is pure and lists ${dependency}`)
      }
      if (dependencies.includes("effect")) breaches.push(`${file} lists effect as a dependency; it is a peer`)
      if (manifest.peerDependencies?.["effect"] !== "^4.1.0") breaches.push(`${file} lacks the peer effect ^4.1.0`)
      if (purePackages.has(name) && Object.keys(manifest.peerDependencies ?? {}).length > 1) {
        breaches.push(`${file} has a peer beside effect`)
      }
    }
    none(breaches)
  })

  it("package.json pins exact versions", () => {
    const breaches: Array<string> = []
    for (const [file, manifest] of [["package.json", readJson("package.json")] as const, ...manifests]) {
      for (const field of ["dependencies", "devDependencies", "optionalDependencies"] as const) {
        for (const [name, version] of Object.entries(manifest[field] ?? {})) {
          const expected = name.startsWith("@reprise/") ? /^workspace:\^$/ : /^\d+\.\d+\.\d+$/
          if (!expected.test(version)) breaches.push(`${file}: ${name} ${version}`)
        }
      }
    }
    none(breaches)
  })

  it("tsconfig references name the same packages as package.json", () => {
    none(
      packages.flatMap((name) => {
        const references = (readJson(`packages/${name}/tsconfig.json`).references ?? []).map((r) =>
          path.basename(r.path)
        )
        const dependencies = Object.keys(manifests.get(name)?.dependencies ?? {})
          .filter((dependency) => dependency.startsWith("@reprise/"))
          .map((dependency) => path.basename(dependency))
        return references.toSorted().join() === dependencies.toSorted().join()
          ? []
          : [`packages/${name}: references [${references}], dependencies [${dependencies}]`]
      })
    )
  })

  it("the lockfile names no registry host", () => {
    none(
      breachesIn("pnpm-lock.yaml", /https?:\/\/|\btarball:/, fs.readFileSync(path.join(root, "pnpm-lock.yaml"), "utf8"))
    )
  })
})

describe("purity", () => {
  it("domain and recovery import effect's core and the domain, and nothing else", () => {
    none(
      eachImport((source, specifier) => {
        if (!purePackages.has(source.package) || specifier.startsWith(".")) return undefined
        if (impureModules.test(specifier)) return `imports ${specifier}, which reaches outside`
        return /^(effect|@reprise\/domain)(\/|$)/.test(specifier) ? undefined : `imports ${specifier}`
      })
    )
  })

  it("domain and recovery touch no clock, chance, console, timer or host", () => {
    none(eachWord(impureWords, (source) => purePackages.has(source.package)))
  })

  it("no package is async or takes time and chance past their services", () => {
    none(eachWord(hostWords, () => true))
  })

  it("packages import effect's modules, never the barrel", () => {
    none(
      eachImport((_, specifier) => (/^(effect|@effect\/[^/]+)$/.test(specifier) ? `imports ${specifier}` : undefined))
    )
  })
})

describe("shape", () => {
  it("no file is over 400 lines", () => {
    const beside = ["examples", "bench", "scripts"].flatMap((folder) =>
      [...filesUnder(path.join(root, folder), ".ts"), ...filesUnder(path.join(root, folder), ".mjs")].map((file) => {
        const name = `${folder}/${file}`
        return { file: name, text: fs.readFileSync(path.join(root, name), "utf8") }
      })
    )
    none(
      [...sources, ...beside].flatMap(({ file, text }) => {
        const lines = text.trimEnd().split("\n").length
        return lines > 400 ? [`${file} has ${lines} lines`] : []
      })
    )
  })

  it("every source has its test: packages/<p>/src/X.ts has test/<p>/X.test.ts", () => {
    none(
      sources
        .filter(({ module }) => module !== "index.ts" && !/^(testing|internal)\//.test(module))
        .map((source) => ({ source, test: `test/${source.package}/${source.module.replace(/\.ts$/, ".test.ts")}` }))
        .filter(({ test }) => !fs.existsSync(path.join(root, test)))
        .map(({ source, test }) => `${source.file} has no ${test}`)
    )
  })

  it('index.ts holds only `export * as X from "./X.ts"`', () => {
    none(
      sources
        .filter(({ module }) => module === "index.ts")
        .flatMap(({ code, file }) =>
          code.split("\n").flatMap((line, index) => {
            const [, name, target] = /^export \* as (\w+) from "(\.\/[\w/]+)\.ts"$/.exec(line.trim()) ?? []
            const fits =
              line.trim() === "" || (name !== undefined && target !== undefined && path.basename(target) === name)
            return fits ? [] : [`${file}:${index + 1} ${line.trim()}`]
          })
        )
    )
  })

  it("every module is in its package's index.ts", () => {
    none(
      sources
        .filter(({ module }) => !/^(index|main)\.ts$|^(testing|internal)\//.test(module))
        .filter(({ module, package: name }) => {
          const index = sources.find((source) => source.package === name && source.module === "index.ts")
          return !index?.code.includes(`"./${module}"`)
        })
        .map(({ file }) => `${file} is not exported`)
    )
  })
})

describe("words", () => {
  it("every public export is documented", () => {
    const breaches: Array<string> = []
    for (const { file, module, text } of sources.filter((source) => source.module !== "index.ts")) {
      if (module.startsWith("internal/")) continue
      const documented = new Set<string>()
      const lines = text.split("\n")
      for (const [index, line] of lines.entries()) {
        const name = exportedName(line)
        if (name === undefined || documented.has(name)) continue
        // An overload or a companion type shares the comment of the first export of its name.
        documented.add(name)
        const before = lines.slice(0, index).findLast((above) => above.trim() !== "" && !above.startsWith("//"))
        if (!before?.trimEnd().endsWith("*/")) breaches.push(`${file}:${index + 1} ${name}`)
      }
    }
    none(breaches)
  })

  it("no file or export is named manager, utils, helpers, handle, process, apply or replay", () => {
    const banned = (name: string) => words(name).some((word) => bannedWords.has(word))
    const breaches: Array<string> = []
    for (const { code, file, module } of sources) {
      if (banned(module.replace(/\.ts$/, ""))) breaches.push(file)
      for (const [index, line] of code.split("\n").entries()) {
        const name = exportedName(line)
        if (name !== undefined && banned(name)) breaches.push(`${file}:${index + 1} ${name}`)
      }
    }
    none(breaches)
  })
})

interface Manifest {
  readonly dependencies?: Record<string, string>
  readonly devDependencies?: Record<string, string>
  readonly optionalDependencies?: Record<string, string>
  readonly peerDependencies?: Record<string, string>
  readonly references?: ReadonlyArray<{ readonly path: string }>
}

function readJson(file: string): Manifest {
  return JSON.parse(fs.readFileSync(path.join(root, file), "utf8"))
}

function filesUnder(folder: string, extension: string): ReadonlyArray<string> {
  if (!fs.existsSync(folder)) return []
  return fs
    .readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(extension) && !file.includes("node_modules"))
    .map((file) => file.replaceAll(path.sep, "/"))
    .toSorted()
}

/** Turns comments, and the contents of strings and patterns, into spaces. Code inside `${…}` stays. */
function blank(text: string, options: { readonly strings: boolean }): string {
  const spaces = (token: string) => token.replace(/[^\n]/g, " ")
  const token =
    /\/\/[^\n]*|\/\*[\s\S]*?\*\/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\[\s\S]|[^`\\])*`|(?<=[=(,:!&|?;{}[<>+\-*%~^]\s*|\breturn\s|^\s*)\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/gm
  return text.replace(token, (found) => {
    if (found.startsWith("//") || found.startsWith("/*")) return spaces(found)
    if (!options.strings) return found
    if (!found.startsWith("`")) return found.slice(0, 1) + spaces(found.slice(1, -1)) + found.slice(-1)
    return found
      .split(/(\$\{[^}`]*\})/)
      .map((part) => (part.startsWith("${") ? part : spaces(part)))
      .join("")
  })
}

function eachImport(judge: (source: Source, specifier: string) => string | undefined): ReadonlyArray<string> {
  const statement = /(?:\bfrom\s*|\bimport\s*\(?\s*)["']([^"'\n]+)["']/g
  return sources.flatMap((source) =>
    [...source.code.matchAll(statement)].flatMap((match) => {
      const breach = judge(source, match[1] ?? "")
      return breach === undefined ? [] : [`${source.file}:${lineAt(source.code, match.index)} ${breach}`]
    })
  )
}

function eachWord(
  rules: ReadonlyArray<readonly [RegExp, string]>,
  concerns: (source: Source) => boolean
): ReadonlyArray<string> {
  return sources
    .filter(concerns)
    .flatMap(({ bare, file }) => rules.flatMap(([word, why]) => breachesIn(file, word, bare, why)))
}

function breachesIn(file: string, word: RegExp, text: string, why = "is not wanted"): ReadonlyArray<string> {
  return [...text.matchAll(new RegExp(word, "g"))].map(
    (match) => `${file}:${lineAt(text, match.index)} ${match[0].trim()} ${why}`
  )
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split("\n").length
}

function exportedName(line: string): string | undefined {
  return /^export (?:declare |abstract |async )*(?:const|let|function\*?|class|interface|type|enum|namespace) (\w+)/.exec(
    line
  )?.[1]
}

function words(name: string): ReadonlyArray<string> {
  return name.split(/[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])/).map((word) => word.toLowerCase())
}

function none(breaches: ReadonlyArray<string>): void {
  assert.deepStrictEqual([...breaches], [])
}
