import { generateAtsKey, saveAtsApiKey } from '../../../src/domain/ats/keys.ts'
import type { KeyMode } from '../../../src/domain/context.ts'
import type { Ats } from '../../../src/domain/ports/ats-settings.ts'
import { releaseResult } from '../../../src/domain/submissions/grading/release-result.ts'
import { saveGrade } from '../../../src/domain/submissions/grading/save-grade.ts'
import { candidateOf, consent } from '../candidate.ts'
import { asMember } from '../grading.ts'
import type { Service } from '../service.ts'
import { waitUntil } from '../wait-until.ts'
import { TO_LOOPBACK } from '../webhooks.ts'

/** Settings for a service that connects to the fakes, which listen on loopback. */
export const TO_FAKES = { ...TO_LOOPBACK, ATS_CALLBACK_HOSTS: '127.0.0.1' }

/** Creates an organization with a key for an ATS, and an assessment with two questions, for five points and three points. */
export async function connect(service: Service, ats: Ats, { mode = 'live' as KeyMode, points = [5, 3] } = {}) {
  const organization = await service.make.organization()
  const assessment = await service.make.assessment(organization.id)
  for (const [i, of] of points.entries())
    await service.make.question(assessment, { order: i + 1, script: `What is ${i + 1}?`, points: of })
  const member = await service.make.member(organization.id, { roles: ['admin'] })
  const admin = asMember(service, organization, member)
  const key = await generateAtsKey(admin, ats, mode)
  const theirKey = `a key that ${ats} has made for ${organization.id}`
  if (ats === 'ashby') await saveAtsApiKey(admin, ats, mode, theirKey)
  const connection = await service.db.atsConnection.findFirstOrThrow({ where: { organizationId: organization.id, ats, mode } })
  const inviteOf = (id: string) => service.db.invite.findUniqueOrThrow({ where: { id } })

  /** Returns the actions of an invite's candidate. */
  async function candidate(inviteId: string) {
    const page = candidateOf(service, await inviteOf(inviteId))
    return {
      accept: () => page.press('accept'),
      decline: () => page.press('decline'),
      async start() {
        await page.press('accept')
        await consent(page)
        await page.press('start')
      },
      async finish() {
        for (const i of points.keys()) {
          await page.press('open', { number: String(i + 1) })
          await page.answer(i + 1, `Answer ${i + 1}`, 'next')
        }
        await page.press('finish')
      },
    }
  }

  /** Takes and submits the assessment as the candidate. */
  async function submitInvite(inviteId: string): Promise<void> {
    const { start, finish } = await candidate(inviteId)
    await start()
    await finish()
  }

  /** Grades the submission with these points, and releases the result. */
  async function release(inviteId: string, given: number[]): Promise<void> {
    const { assessmentSession } = await inviteOf(inviteId)
    const submissionId = assessmentSession!
    for (const [i, points] of given.entries())
      await saveGrade(admin, { submissionId, number: i + 1, points, comment: '', seen: service.clock.now() })
    await releaseResult(admin, { submissionId, comment: '', message: '', toCandidate: false })
  }

  /** Waits until all events have been reported. */
  const allReported = () =>
    waitUntil('all events to be reported', async () => {
      const unnumbered = await service.db.event.count({ where: { position: null } })
      const { position: head } = await service.db.eventSequence.findUniqueOrThrow({ where: { id: 1 } })
      const { position } = await service.db.atsFanout.findUniqueOrThrow({ where: { id: 1 } })
      const waiting = await service.db.atsReport.count({ where: { connectionId: connection.id, state: 'waiting' } })
      return unnumbered === 0 && position >= head && waiting === 0 ? true : undefined
    })

  const parts = { organization, assessment, connection, admin, member, key, theirKey }
  return { ...parts, allReported, inviteOf, candidate, submitInvite, release }
}

export type Connected = Awaited<ReturnType<typeof connect>>
