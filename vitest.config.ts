import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    setupFiles: ["test/setup.ts"],
    globalSetup: ["test/postgres/shared.ts"],
    // Files share a worker, which loads the modules once: half of the time of a run went into that.
    isolate: false,
    // One for each core: what a test waits for is often a process of its own.
    maxWorkers: "100%",
    // What hangs, hangs forever; on a busy machine the rest may take its time.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    coverage: {
      provider: "v8",
      include: ["packages/*/src/**/*.ts"],
      reporter: ["text", "html"]
    }
  }
})
