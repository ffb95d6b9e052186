import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, it } from 'vitest'
import { answerWith, startReceiver } from '../support/receiver.ts'

/** Runs the script like Postfix, with the recipient as its argument and the bounce as its input. */
async function runScript(SERVICE_URL: string): Promise<number> {
  const child = spawn('/bin/sh', ['ops/postfix/tell-bounce', 'bounce+1.a@bounces.example.com'], {
    env: { ...process.env, SERVICE_URL },
  })
  child.stdin.end('From: mailer\n\nNo such user\n')
  const [code] = await once(child, 'close')
  return code
}

it.each([
  [200, 0],
  [401, 77],
  [413, 77],
  [503, 75],
])('posts the bounce, and for the response %i exits with %i', async (status, code) => {
  const receiver = await startReceiver(answerWith(status))
  expect(await runScript(new URL(receiver.url).origin)).toBe(code)
  const [{ path, headers, body }] = receiver.received as [(typeof receiver.received)[0]]
  expect({ path, body }).toEqual({ path: '/mail-events/dsn', body: 'From: mailer\n\nNo such user\n' })
  expect(headers).toMatchObject({
    'content-type': 'message/rfc822',
    'x-envelope-recipient': 'bounce+1.a@bounces.example.com',
  })
})

it('lets Postfix retry while the service is unavailable', async () => {
  expect(await runScript('http://127.0.0.1:1')).toBe(75)
})
