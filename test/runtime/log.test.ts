import { expect, it } from 'vitest'
import { signInvitation } from '../../src/domain/secrets/invitation-tokens.ts'
import { SECRET_KEY } from '../support/known-secrets.ts'
import { launchService } from '../support/processes.ts'

it('holds no link of a candidate, also where an error of a library names the address of a request', async () => {
  const token = signInvitation([SECRET_KEY], { inviteId: crypto.randomUUID(), linkVersion: 1 })
  const script = `
    import { createLog } from './src/runtime/log.ts'
    const log = createLog('info')
    log.warn({ err: new Error('Reply was already sent, did you forget to "return reply" in "/i/${token}/answer" (POST)?') })
    log.info('no route for /i/${token}')`
  const program = launchService({}, ['--input-type=module', '--eval', script])
  await program.exited
  expect(program.log().map(({ msg }) => msg)).toEqual([
    'Reply was already sent, did you forget to "return reply" in "/i/[token]/answer" (POST)?',
    'no route for /i/[token]',
  ])
  expect(program.output()).not.toContain(token)
})
