import { expect, it } from 'vitest'
import { detectRestore } from '../../src/domain/events/detect-restore.ts'
import { revokeInvite } from '../../src/domain/invites/operate-invite.ts'
import { connect, TO_FAKES } from '../support/ats/connect.ts'
import { startGreenhouse } from '../support/ats/greenhouse.ts'
import { startReceiver } from '../support/receiver.ts'
import { startServiceForTest } from '../support/service.ts'
import { makeIntegrator } from '../support/webhooks.ts'

it('continues to send webhooks and reports after the gap that a restored backup leaves in the feed', async () => {
  const service = await startServiceForTest({ ...TO_FAKES, ATS_GREENHOUSE: 'on' })
  const url = await service.app.listen({ port: 0, host: '127.0.0.1' })
  const integrator = await makeIntegrator(service)
  const receiver = await startReceiver()
  await integrator.subscribe(receiver)
  await integrator.invite()
  await receiver.waitFor(1)
  const recruiter = await connect(service, 'greenhouse')
  const greenhouse = await startGreenhouse({ url, key: recruiter.key })
  const { interviewId } = await greenhouse.sendTest(recruiter.assessment.id)

  await service.db.eventSequence.updateMany({ data: { database: 'the one before' } })
  await detectRestore(service.system)
  const { position } = await service.db.eventSequence.findUniqueOrThrow({ where: { id: 1 } })
  expect(position).toBeGreaterThan(1_000_000_000_000n)

  await integrator.invite()
  await revokeInvite(recruiter.admin, interviewId)
  await receiver.waitFor(2)
  await greenhouse.waitFor(1)
})
