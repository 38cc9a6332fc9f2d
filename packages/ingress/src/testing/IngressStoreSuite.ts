/**
 * IngressStoreSuite: what every `IngressStore` must do, as tests that run in any test runner.
 *
 *   layer(store, { excludeTestServices: true })("my store", (it) => {
 *     for (const { name, run } of IngressStoreSuite.tests) it.effect(name, () => run)
 *   })
 *
 * The tests may share one store: each works in tenants of its own. They need a clock that runs. A test that fails dies
 * with an `AssertionError`.
 */
import type * as Effect from "effect/Effect"
import type { AppendError, ReadError } from "../IngressError.ts"
import type { IngressStore } from "../IngressStore.ts"
import { appending } from "./store/appending.ts"
import { claiming } from "./store/claiming.ts"
import { listing } from "./store/listing.ts"
import { random } from "./store/random.ts"
import { reading } from "./store/reading.ts"
import { removing } from "./store/removing.ts"
import { together } from "./store/together.ts"

/**
 * Promises by their names.
 *
 * @category models
 * @since 0.1.0
 */
export type Promises = {
  readonly [name: string]: Effect.Effect<void, AppendError | ReadError, IngressStore>
}

/**
 * The promises, by what they are about.
 *
 * @category testing
 * @since 0.1.0
 */
export const groups: { readonly [name: string]: Promises } = {
  appending,
  claiming,
  reading,
  listing,
  removing,
  together,
  random
}

/**
 * One test of the suite, which asks for a store.
 *
 * @category models
 * @since 0.1.0
 */
export interface Test {
  readonly name: string
  readonly run: Effect.Effect<void, AppendError | ReadError, IngressStore>
}

/**
 * The whole suite.
 *
 * @category testing
 * @since 0.1.0
 */
export const tests: ReadonlyArray<Test> = Object.entries(groups).flatMap(([group, promises]) =>
  Object.entries(promises).map(([name, run]) => ({ name: `${group}: ${name}`, run }))
)
