import { Command, CommanderError } from 'commander'
import { addArchiveCommand } from './cli/archive.ts'
import { addBackupCommands } from './cli/backup.ts'
import { addDemoCommand } from './cli/demo.ts'
import { addDoctorCommand } from './cli/doctor.ts'
import { addEraseCommand } from './cli/erase.ts'
import { EXIT_BAD_CONFIGURATION, EXIT_FAILED, EXIT_WRONG_USAGE } from './cli/exit-codes.ts'
import { addImportCommand } from './cli/import.ts'
import { addKeyCommands } from './cli/keys.ts'
import { addMailCommands } from './cli/mail.ts'
import { addMediaCommands } from './cli/media.ts'
import { addMemberCommands } from './cli/members.ts'
import { addMigrateCommand } from './cli/migrate.ts'
import { addOrganizationCommands } from './cli/organizations.ts'
import { describeError } from './cli/output.ts'
import { addQuestionCommands } from './cli/questions.ts'
import { addSandboxCommand } from './cli/sandbox.ts'
import { addSecretCommands } from './cli/secret.ts'
import { addSsoCommands } from './cli/sso.ts'
import { addVersionCommand } from './cli/version.ts'
import { addWebhookCommands } from './cli/webhooks.ts'
import { ConfigError } from './runtime/config.ts'

/** The operator's command line. It reads the service's environment, and can run beside it. */
function createProgram(): Command {
  const program = new Command('npm run cli --')
    .description('Command line for operators of the Assessment Invitation Service.')
    .helpCommand(false)
    .exitOverride()
  addMigrateCommand(program)
  addOrganizationCommands(program)
  addKeyCommands(program)
  addMemberCommands(program)
  addQuestionCommands(program)
  addSsoCommands(program)
  addImportCommand(program)
  addDemoCommand(program)
  addSandboxCommand(program)
  addMailCommands(program)
  addMediaCommands(program)
  addWebhookCommands(program)
  addArchiveCommand(program)
  addEraseCommand(program)
  addBackupCommands(program)
  addSecretCommands(program)
  addDoctorCommand(program)
  addVersionCommand(program)
  return program
}

/** Prints the error. @returns the exit code. */
function printError(error: unknown): number {
  // Commander has printed its message; --help ends the same way.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_WRONG_USAGE
  const isConfiguration = error instanceof ConfigError
  process.stderr.write(`error: ${isConfiguration ? error.message : describeError(error)}\n`)
  return isConfiguration ? EXIT_BAD_CONFIGURATION : EXIT_FAILED
}

/** Runs the command in `args` and sets the process's exit code. */
export async function runProgram(args: string[]): Promise<void> {
  await createProgram()
    .parseAsync(args, { from: 'user' })
    .catch((error) => {
      process.exitCode = printError(error)
    })
}

// compile.ts and tests only load this module.
if (import.meta.main) {
  // A reader like `head` closed the pipe.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })
  await runProgram(process.argv.slice(2))
}
