/**
 * All benches and all goals: `npm run bench`, or in about a minute `npm run bench -- --quick`.
 *
 *   npm run bench -- [--mb 100] [--reps 5] [--seed S] [--json] [--peers DIR]
 *
 * One file per job; each can be run alone with the same options. A new bench is one line here.
 */
import * as append from "./append.ts"
import * as depth from "./depth.ts"
import * as follow from "./follow.ts"
import * as imports from "./imports.ts"
import * as list from "./list.ts"
import * as remote from "./remote.ts"
import * as resume from "./resume.ts"
import * as schema from "./schema.ts"
import { main } from "./support/report.ts"

main({
  append: append.measure,
  resume: resume.measure,
  list: list.measure,
  follow: follow.measure,
  schema: schema.measure,
  remote: remote.measure,
  imports: imports.measure,
  depth: depth.measure
})
