import type { Command } from 'commander'
import { DEMO_NAME, describeDemo, loadDemo } from '../demo/load-demo.ts'
import { PATHS } from '../runtime/paths.ts'
import type { OutputOptions } from './output.ts'
import { addCommand, runCommand } from './session.ts'

/** `demo`: creates the organization that a trial has, in any database. */
export function addDemoCommand(program: Command): void {
  addCommand(program, 'demo', 'create the demo organization and its API key').action((options: OutputOptions) =>
    runCommand(
      options,
      async ({ operator, site }) => {
        const demo = await loadDemo(operator)
        if (!demo)
          throw new Error(
            `There is already an organization named ${DEMO_NAME}. A key of it: npm run cli -- key create '${DEMO_NAME}' Demo`,
          )
        return { text: describeDemo(site.publicUrl + PATHS.v1, demo), json: demo }
      },
      { migrates: true },
    ),
  )
}
