export * as AppendChain from "./AppendChain.ts"
