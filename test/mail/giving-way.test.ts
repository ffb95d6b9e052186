import { afterAll, expect, it } from 'vitest'
import { queueInvitationEmail } from '../../src/domain/invites/emails.ts'
import { inTransaction } from '../../src/domain/transaction.ts'
import { waitForState } from '../support/mail.ts'
import { startServiceForFile } from '../support/service.ts'

const service = await startServiceForFile()
const { deps, make, system } = service

/** Turns of the event loop so far. Waiting requests continue in each turn. */
let turns = 0
let next = setImmediate(count)
function count(): void {
  turns++
  next = setImmediate(count)
}
afterAll(() => clearImmediate(next))

/** For each mail, the turn in which it read the time of the last response before it began. */
const asked: number[] = []
let answeredAt = -Infinity
deps.traffic = {
  get answeredAt() {
    asked.push(turns)
    return answeredAt
  },
}

const MAILS = 10

/** Sends mails that were queued at the same time. @returns the number of turns in which they began. */
async function sendMails(): Promise<number> {
  asked.splice(0)
  const assessment = await make.assessment((await make.organization()).id)
  const invites = await Promise.all(Array.from({ length: MAILS }, () => make.invite(assessment)))
  await inTransaction(system, async (inside) => {
    for (const invite of invites) await queueInvitationEmail(inside, invite)
  })
  for (const { id: inviteId } of invites) await waitForState(service, { inviteId }, 'captured')
  expect(asked).toHaveLength(MAILS)
  return new Set(asked).size
}

it('starts mails at once while there are no requests', async () => {
  expect(await sendMails()).toBeLessThan(MAILS)
})

it('starts mails one after the other during requests, which are served in between', async () => {
  answeredAt = Infinity // as if a request was always answered just now
  expect(await sendMails()).toBe(MAILS)
})
