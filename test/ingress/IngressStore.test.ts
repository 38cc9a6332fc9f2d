import { layer } from "@effect/vitest"
import * as IngressStore from "@reprise/ingress/IngressStore"
import * as IngressStoreSuite from "@reprise/ingress/testing/IngressStoreSuite"

layer(IngressStore.layerMemory, { excludeTestServices: true })("layerMemory", (it) => {
  for (const { name, run } of IngressStoreSuite.tests) it.effect(name, () => run)
})
