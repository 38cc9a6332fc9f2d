/**
 * IngressStoreSuite: what every `IngressStore` must do, as tests that run in any test runner.
 *
 *   for (const { name, run } of IngressStoreSuite.tests(layer)) it.live(name, () => run)
 *
 * The tests may share one store: each works in tenants of its own. They need a clock that runs. A test that fails dies
 * with an `AssertionError`.
 */
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
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
 * One test of the suite.
 *
 * @category models
 * @since 0.1.0
 */
export interface Test<E> {
  readonly name: string
  readonly run: Effect.Effect<void, E | AppendError | ReadError>
}

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
 * The suite for a layer, which is built for each test.
 *
 * @category testing
 * @since 0.1.0
 */
export const tests = <E>(layer: Layer.Layer<IngressStore, E>): ReadonlyArray<Test<E>> =>
  Object.entries(groups).flatMap(([group, promises]) =>
    Object.entries(promises).map(([name, promise]) => ({
      name: `${group}: ${name}`,
      run: Effect.provide(promise, layer)
    }))
  )
