import { defineConfig } from 'vitest/config'
import { shared } from '../../vitest.config.ts'

// What takes long, or needs more than npm has, by `npm run test:operations`: by hand, and before a release.
export default defineConfig({
  test: {
    ...shared,
    root: new URL('../..', import.meta.url).pathname,
    include: ['test/operations/**/*.test.ts'],
    maxWorkers: 1,
    testTimeout: 1_800_000,
    hookTimeout: 1_800_000,
  },
})
