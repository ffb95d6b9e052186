import { defineConfig } from 'vitest/config'
import { shared } from '../vitest.config.ts'

// All that `npm run check` runs, by `npm run test:all`: in one run, in which what waits for a fault to pass has others beside it.
export default defineConfig({
  test: {
    ...shared,
    root: new URL('..', import.meta.url).pathname,
    include: ['test/**/*.test.ts'],
    exclude: ['test/operations/**'],
  },
})
