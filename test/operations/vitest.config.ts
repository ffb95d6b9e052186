import { spawnSync } from 'node:child_process'
import { defineConfig } from 'vitest/config'
import { shared } from '../../vitest.config.ts'

const root = new URL('../..', import.meta.url).pathname
/** Vitest accepts `reporters` and `sequence` for the whole run, not for a project. */
const { reporters, sequence, ...ofProject } = shared

const OF_INTERFACES = { include: ['test/interfaces/{v1,alternate}/**/*.test.ts'], root }

/** Runs the tests of both interfaces with a PgBouncer between the service and the database. `--project pooler-session` runs one mode alone. */
const behindPooler = (mode: 'transaction' | 'session') => ({
  test: {
    ...ofProject,
    name: `pooler-${mode}`,
    ...OF_INTERFACES,
    env: { TEST_POOLER: mode },
  },
})
const hasPgbouncer = spawnSync('pgbouncer', ['--version']).status === 0
if (!hasPgbouncer) process.stderr.write('PgBouncer is not installed: the interfaces are not tested behind a pooler.\n')

// `npm run test:operations` runs tests that take long or need programs from outside npm. Run it by hand and before a release. Projects run one
// after the other.
export default defineConfig({
  test: {
    root,
    reporters,
    sequence,
    projects: [
      {
        test: {
          ...ofProject,
          name: 'operations',
          root,
          include: ['test/operations/**/*.test.ts'],
          maxWorkers: 1,
          testTimeout: 1_800_000,
          hookTimeout: 1_800_000,
        },
      },
      // With tables partitioned by organization. The number of pages that a statement reads is not tested, because partitions change the plans.
      {
        test: {
          ...ofProject,
          ...OF_INTERFACES,
          name: 'partitions',
          env: { TEST_PARTITIONS: 'yes' },
          exclude: ['**/page-cost.test.ts'],
        },
      },
      ...(hasPgbouncer ? [behindPooler('transaction'), behindPooler('session')] : []),
    ],
  },
})
