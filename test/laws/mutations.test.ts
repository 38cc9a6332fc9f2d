/**
 * The laws have teeth: each mutant is told from the right reader by at least one of them, within the usual budget.
 *
 * A law counts only on logs on which it holds of the right reader, so that one that is open elsewhere proves nothing.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Recovery from "@reprise/recovery/Recovery"
import type * as Law from "@reprise/recovery/testing/Law"
import * as RecoveryLaws from "@reprise/recovery/testing/RecoveryLaws"
import * as budget from "./budget.ts"
import { mutants, right } from "./mutants.ts"
import { attempt } from "./subjects.ts"

const { chain, modelView, reading, reducers } = RecoveryLaws.groups
const jury: ReadonlyArray<Law.Law> = [...chain, ...reducers, ...reading, ...modelView]

/** The law as it tells a mutant from the right reader. */
const telling = (law: Law.Law, mutant: Law.Reader): Law.Law =>
  ({
    ...law,
    holds: (given: Law.OfDamage) => law.holds(given, mutant) === true || law.holds(given, Recovery.fold) !== true
  }) as Law.Law

const tellsApart = (law: Law.Law, mutant: Law.Reader, runs = Math.min(budget.runs, 200)): boolean =>
  attempt(telling(law, mutant), {
    runs,
    seed: `${budget.seed} ${law.name}`,
    maxShrinks: 0
  }) !== undefined

describe("Mutations", () => {
  for (const [name, mutant] of Object.entries(mutants)) {
    it(`${name}: a law sees it`, { timeout: budget.timeout }, () => {
      // Most are seen in few runs by some law: that one need not wait until the laws before it have had all of theirs.
      assert.isTrue(
        jury.some((law) => tellsApart(law, mutant, 20)) || jury.some((law) => tellsApart(law, mutant)),
        `none of ${jury.length} laws tells this reader from the right one`
      )
    })
  }

  it("the same steps, unchanged, are told from the right reader by none", { timeout: budget.timeout }, () => {
    assert.deepStrictEqual(
      jury.filter((law) => tellsApart(law, right)).map(({ name }) => name),
      []
    )
  })
})
