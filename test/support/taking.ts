import { ASKS_NOTHING, candidateOf, consent } from './candidate.ts'
import type { Service } from './service.ts'

type Question = Parameters<Service['make']['question']>[1]
export type Taken = {
  /** Seconds for the whole. */
  timeLimit?: number
  /** Host that the organization's recordings are sent to. */
  transcriptionHost?: string
  questions?: Question[]
} & Parameters<Service['make']['invite']>[1]

/** An accepted invite that asks for nothing but answers, unless told otherwise, with its candidate. */
export async function makeAccepted(
  service: Service,
  { timeLimit = 0, transcriptionHost, questions = [{}, {}], ...data }: Taken = {},
) {
  const { db } = service
  const organization = await service.make.organization()
  const organizationId = organization.id
  if (transcriptionHost) await db.organization.update({ where: { id: organizationId }, data: { transcriptionHost } })
  const assessment = await service.make.assessment(organizationId, { timeLimit })
  for (const [i, question] of questions.entries()) {
    await service.make.question(assessment, { order: i + 1, script: `What is ${i + 1}?`, ...question })
  }
  const invite = await service.make.invite(assessment, { status: 'accepted', ...ASKS_NOTHING, ...data })
  return {
    organization,
    assessment,
    invite,
    candidate: candidateOf(service, invite),
    stored: () => db.invite.findUniqueOrThrow({ where: { id: invite.id } }),
    submission: () => db.submission.findFirstOrThrow({ where: { inviteId: invite.id }, orderBy: { id: 'desc' } }),
    paper: () => db.submissionQuestion.findMany({ where: { organizationId }, orderBy: { number: 'asc' } }),
    /** The texts that are kept, in the order of their questions. */
    texts: async () => {
      const takes = await db.answerAttempt.findMany({
        where: { organizationId, kind: 'text' },
        orderBy: { questionNumber: 'asc' },
      })
      return takes.map(({ text }) => text)
    },
  }
}

/** The same, started, with a tab that may write. */
export async function makeTaking(service: Service, of: Taken = {}) {
  const made = await makeAccepted(service, of)
  const { candidate } = made
  await consent(candidate)
  await candidate.press('start')
  const tab = await openTab(service, candidate)
  return { ...made, tab }
}

/** Opens another tab, which takes over. @returns its id. */
export async function openTab(service: Service, candidate: ReturnType<typeof candidateOf>): Promise<string> {
  const tab = service.deps.newId()
  await candidate.session('post', '/tab', { body: { tab } })
  return tab
}
