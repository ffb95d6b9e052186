import { expect } from 'vitest'
import type { INVITE_FIELDS } from '../../../src/domain/invites/invite-fields.ts'
import type { Prisma } from '../../../src/generated/prisma/client.ts'
import { candidateOf, consent, NO_REQUIREMENTS } from '../candidate.ts'
import { DAY_MS } from '../factories.ts'
import { links } from '../links.ts'
import { signInAs } from '../portal.ts'
import { openTab } from '../taking.ts'
import { type Effects, effect, findIn, IDENTITY, testedIn, textIn, UNWRITTEN, type World } from './effect.ts'

type Data = Partial<Prisma.InviteUncheckedCreateInput>

export function inviteEffects({
  service,
  organization,
  assessment,
  v1,
  alternate,
  page,
  admin,
}: World): Effects<keyof typeof INVITE_FIELDS | 'tagIds'> {
  const { make, db, clock } = service
  const at = (days: number) => new Date(clock.now().getTime() + days * DAY_MS)
  const candidateWith = async (data: Data) => candidateOf(service, await make.invite(assessment, { ...NO_REQUIREMENTS, ...data }))
  const landing = async (data: Data) => textIn((await (await candidateWith(data)).open()).text)
  /** Returns the page of the only question, which has a recorded answer and an audio prompt. */
  async function question(data: Data): Promise<string> {
    const of = await make.assessment(organization.id)
    await make.question(of, { responseType: 'audio', audioUrl: 'https://media.example.com/a.mp3', timeLimit: 100 })
    const terms: Data = { ...NO_REQUIREMENTS, waivedChecks: ['microphone'], status: 'accepted', ...data }
    const candidate = candidateOf(service, await make.invite(of, terms))
    await consent(candidate)
    await candidate.press('start')
    await openTab(service, candidate)
    await candidate.press('open', { number: '1' })
    return (await candidate.open()).text
  }
  const isFound = async (query: string, data: Data) => {
    const of = await make.assessment(organization.id)
    const { id } = await make.invite(of, data)
    const { body } = await v1.get(`/invites?assessmentId=${of.id}&${query}`)
    return body.invites.some((one: { id: string }) => one.id === id)
  }
  const timeline = async (data: Data) => {
    const { id } = await make.invite(assessment, data)
    return textIn(await page(`invites/${id}`))
  }
  const requires = (words: string) => async (data: Data) => (await landing({ status: 'accepted', ...data })).includes(words)
  const oneOf = (field: keyof Data, words: string) =>
    effect((value: boolean) => requires(words)({ [field]: value }), [true, true], [false, false])
  const happened = (field: keyof Data, data: Data, words: RegExp) =>
    effect(async (value: Date | null) => words.test(await timeline({ ...data, [field]: value })), [at(0), true], [null, false])

  return {
    id: IDENTITY,
    organizationId: IDENTITY,
    assessmentId: effect(
      async (name: string) => {
        const of = await make.assessment(organization.id, { name })
        return findIn((await candidateOf(service, await make.invite(of)).open()).text, /(Spoken \w+)/)
      },
      ['Spoken Basque', 'Spoken Basque'],
      ['Spoken Welsh', 'Spoken Welsh'],
    ),
    recipientEmail: effect(
      async (recipientEmail: string) => {
        const of = await make.assessment(organization.id)
        await make.invite(of, { recipientEmail })
        const body = { assessmentId: of.id, recipientEmail: 'here@example.com', sendEmail: false }
        return (await v1.post('/invites').send(body)).status
      },
      ['there@example.com', 201],
      ['here@example.com', 409],
    ),
    recipientName: effect(
      async (recipientName: string | null) => findIn(await landing({ recipientName }), /(Mei), you are invited/),
      ['Mei', 'Mei'],
      [null, null],
    ),
    recipientNameSearch: UNWRITTEN,
    status: effect(
      async (status: 'pending' | 'revoked') => (await landing({ status })).includes('This invitation is closed'),
      ['pending', false],
      ['revoked', true],
    ),
    questionReplayLimit: effect(
      async (questionReplayLimit: number) => findIn(await question({ questionReplayLimit }), /data-plays-left="(\d+)"/),
      [1, '1'],
      [3, '3'],
    ),
    answerRecordLimit: effect(
      async (answerRecordLimit: number) => findIn(await question({ answerRecordLimit }), /data-attempts-left="(\d+)"/),
      [1, '1'],
      [2, '2'],
    ),
    screenRecording: oneOf('screenRecording', 'Your screen is recorded'),
    webcamMonitoring: oneOf('webcamMonitoring', 'Your webcam is on'),
    requireIdCapture: oneOf('requireIdCapture', 'You show an identity document'),
    facePhotoRequired: oneOf('facePhotoRequired', 'A photo of your face is taken'),
    customMessage: effect(
      async (customMessage: string) => (await landing({ customMessage })).includes('Bring a pen.'),
      ['Bring a pen.', true],
      ['', false],
    ),
    externalId: effect((externalId: string) => isFound('externalId=C-7', { externalId }), ['C-7', true], ['C-8', false]),
    metadata: effect(
      async (metadata: Record<string, string>) => {
        const { id } = await make.invite(assessment, { metadata })
        await v1.post(`/invites/${id}/revoke`)
        return (await db.event.findFirstOrThrow({ where: { inviteId: id } })).data
      },
      [{ team: 'a' }, expect.objectContaining({ metadata: { team: 'a' } })],
      [{ team: 'b' }, expect.objectContaining({ metadata: { team: 'b' } })],
    ),
    returnUrl: effect(
      async (returnUrl: string | null) => (await landing({ returnUrl, status: 'completed' })).includes('jobs.example.com'),
      ['https://jobs.example.com/', true],
      [null, false],
    ),
    language: effect(
      async (language: string) => findIn((await (await candidateWith({ language })).open()).text, /<html[^>]* lang="([^"]*)"/),
      ['de', 'de'],
      ['fr', 'fr'],
    ),
    chosenLanguage: UNWRITTEN,
    timeZone: UNWRITTEN,
    remindersOff: testedIn('test/interfaces/portal/reminders.test.ts', 'remindersOff'),
    mode: effect(
      async (mode: 'live' | 'test') => (await v1.get(`/invites/${(await make.invite(assessment, { mode })).id}`)).status,
      ['live', 200],
      ['test', 404],
    ),
    source: UNWRITTEN,
    attempt: UNWRITTEN,
    extraTimePercent: effect(
      async (extraTimePercent: number) => findIn(textIn(await question({ extraTimePercent })), /within ([^.]*)/),
      [0, '1 minute 40 seconds'],
      [200, '5 minutes'],
    ),
    linkVersion: UNWRITTEN,
    assessmentSession: UNWRITTEN,
    waivedChecks: effect(
      async (waivedChecks: string[]) => {
        const candidate = await candidateWith({ status: 'accepted', webcamMonitoring: true, waivedChecks })
        await consent(candidate)
        return (await candidate.open()).text.includes('data-checks="camera"')
      },
      [[], true],
      [['camera'], false],
    ),
    assignedGraderId: effect(
      async (isMine: boolean) => {
        const grader = await signInAs(service, organization.id, ['grader'])
        const { id } = await make.invite(assessment, { assignedGraderId: isMine ? grader.member.id : null })
        return (await grader.get(`${grader.home}invites`)).text.includes(id)
      },
      [true, true],
      [false, false],
    ),
    createdById: effect(
      async (createdById: string | null) => (await landing({ createdById })).includes(admin.member.email),
      [admin.member.id, true],
      [null, false],
    ),
    createdByKeyId: UNWRITTEN,
    sentAt: effect((sentAt: Date) => isFound(`sentFrom=${at(-2).toISOString()}`, { sentAt }), [at(-1), true], [at(-3), false]),
    expiresAt: effect(
      async (expiresAt: Date) => (await landing({ expiresAt })).includes('This invitation has expired'),
      [at(1), false],
      [at(-1), true],
    ),
    acceptedAt: happened('acceptedAt', { status: 'accepted' }, /The candidate accepted/),
    startedAt: happened('startedAt', { status: 'started' }, /it was started/),
    completedAt: happened('completedAt', { status: 'completed' }, /The candidate completed/),
    revokedAt: happened('revokedAt', { status: 'revoked' }, /was revoked \d/),
    declinedAt: UNWRITTEN,
    createdAt: effect(
      async (createdAt: Date) => {
        const first = await make.invite(assessment, { createdAt: at(-5) })
        const other = await make.invite(assessment, { createdAt })
        const { body } = await alternate.get('/assessment_invites?page_size=1000')
        const ids = body.results.map(({ id }: { id: string }) => id)
        return ids.indexOf(first.id) < ids.indexOf(other.id)
      },
      [at(-4), true],
      [at(-6), false],
    ),
    updatedAt: effect(
      (updatedAt: Date) => isFound(`updatedSince=${at(-2).toISOString()}`, { updatedAt }),
      [at(-1), true],
      [at(-3), false],
    ),
    tagIds: effect(
      async (isTagged: boolean) => {
        const tag = await make.tag(organization.id)
        const invite = await make.invite(assessment)
        if (isTagged) await links(db).tagInvite(invite, tag)
        const { body } = await v1.get(`/invites?tagId=${tag.id}`)
        return body.invites.length
      },
      [true, 1],
      [false, 0],
    ),
  }
}
