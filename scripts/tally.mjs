// A vitest reporter that only counts. `scripts/test.mjs` reads the counts from the file named in REPRISE_TALLY.
import { writeFileSync } from "node:fs"

export default class Tally {
  onTestRunEnd(modules, unhandledErrors) {
    let passed = 0
    let failed = unhandledErrors.length
    for (const module of modules) {
      // A file or suite that did not load has errors of its own.
      failed += module.errors().length
      for (const suite of module.children.allSuites()) failed += suite.errors().length
      for (const test of module.children.allTests()) {
        const { state } = test.result()
        if (state === "passed") passed++
        if (state === "failed") failed++
      }
    }
    writeFileSync(process.env.REPRISE_TALLY, JSON.stringify({ passed, failed }))
  }
}
