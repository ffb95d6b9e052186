import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { LOG_EVENTS } from '../../src/domain/ports/log-events.ts'
import { signInvitation } from '../../src/domain/secrets/invitation-tokens.ts'
import { SECRET_KEY } from '../support/known-secrets.ts'
import { launchService } from '../support/processes.ts'

it("contains no candidate's link, even if a library's error quotes a request's URL", async () => {
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

it('names the event of each line by a stable word, besides its message', async () => {
  const script = `
    import { createLog } from './src/runtime/log.ts'
    const log = createLog('info')
    log.info('migrated')
    log.child({ reqId: '1' }).error({ err: new Error('gone') }, 'request failed')
    log.warn({ more: true }, 'said by a library')`
  const program = launchService({}, ['--input-type=module', '--eval', script])
  await program.exited
  expect(program.log()).toMatchObject([
    { event: 'migrated', msg: 'migrated' },
    { event: 'request_failed', reqId: '1', err: { message: 'gone' }, msg: 'request failed' },
    { more: true, msg: 'said by a library' },
  ])
  expect(program.log()[2]).not.toHaveProperty('event')
})

/** Parts of messages about settings, which contain names and therefore have no fixed text. */
const COMPOSED = ['is set, but there is no such setting', 'The service can not start', 'problem)']

// In the domain, the compiler checks that each message has an event. These files use the logging library directly.
it('has an event for every message in the sources', () => {
  const unknown: string[] = []
  for (const file of globSync('src/{server.ts,db/**/*.ts,http/**/*.ts,runtime/**/*.ts}')) {
    for (const [call] of readFileSync(file, 'utf8').matchAll(/\blog\??\.(?:info|warn|error|debug|fatal)\([\s\S]*?\)$/gm)) {
      const isKnown = Object.keys(LOG_EVENTS).some((message) => call.includes(`'${message}'`) || call.includes(`"${message}"`))
      if (!isKnown && !COMPOSED.some((words) => call.includes(words))) unknown.push(`${file}: ${call}`)
    }
  }
  expect(unknown).toEqual([])
})

it('names events in lowercase words with underscores, fit for queries', () => {
  for (const event of Object.values(LOG_EVENTS)) expect(event).toMatch(/^[a-z]+(_[a-z]+)*$/)
})
