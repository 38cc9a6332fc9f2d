import { describe, it } from "@effect/vitest"
import * as IngressStore from "@reprise/ingress/IngressStore"
import * as IngressStoreSuite from "@reprise/ingress/testing/IngressStoreSuite"

describe("layerMemory", () => {
  for (const { name, run } of IngressStoreSuite.tests(IngressStore.layerMemory)) it.live(name, () => run)
})
