import { describe, expect, it } from 'vitest'
import { candidateOf, consent, expectPage, NO_REQUIREMENTS, PAGE_POLICY } from '../../support/candidate.ts'
import { type Service, startServiceForFile } from '../../support/service.ts'

const service = await startServiceForFile()

const states = ['pending', 'accepted', 'started', 'completed', 'expired', 'revoked'] as const
const SESSION = '01900000-0000-7000-8000-00000000beef'

/** Creates an invite with everything that its candidate can be shown. */
async function makeInvite(data: Parameters<Service['make']['invite']>[1] = {}) {
  const { id: organizationId, name: organization } = await service.make.organization()
  const contact = await service.make.member(organizationId, {
    firstName: 'Maya',
    lastName: 'Okafor',
    email: `maya-${organizationId}@example.com`,
  })
  const instruction = await service.db.instruction.create({
    data: { id: service.deps.newId(), organizationId, title: 'Before you start', body: 'Find a quiet room.' },
  })
  const assessment = await service.make.assessment(organizationId, { timeLimit: 1_230, instructionId: instruction.id })
  const invite = await service.make.invite(assessment, {
    recipientName: 'Sam Rivera',
    customMessage: 'We look forward to hearing you.',
    createdById: contact.id,
    questionReplayLimit: 2,
    answerRecordLimit: 1,
    expiresAt: new Date('2099-03-02T09:30:00Z'),
    completedAt: new Date('2098-03-02T09:30:00Z'),
    assessmentSession: SESSION,
    ...data,
  })
  return { organization, contact, assessment, invite, candidate: candidateOf(service, invite) }
}

/** Removes the classes, which affect only the look. */
const plainly = (text: string) => text.replaceAll(/ class="[^"]*"/g, '')

const IMMUTABLE = 'public, max-age=31536000, immutable'

/** The service's only own script, loaded from a file. */
const OWN_SCRIPT = /<script type="module" src="\/i\/assets\/candidate\.(?:clock|en)\.[0-9a-f]{12}\.js"><\/script>/

describe.each(states)('the page of an invite that is %s', (status) => {
  it('changes nothing when a mail scanner or browser reads it', async () => {
    const { invite, candidate } = await makeInvite({ status })
    service.clock.advance(1_000)
    for (const method of ['get', 'head', 'get', 'options'] as const) {
      for (const path of ['', '/accept', '/start', '/finish', '/decline']) await service.http()[method](candidate.path + path)
    }
    expect(await service.db.invite.findUnique({ where: { id: invite.id } })).toEqual(invite)
  })

  it('loads only its icon, stylesheet, and clock script, and is not cached, indexed, or sent as a referrer', async () => {
    const { candidate } = await makeInvite({ status })
    const answer = await candidate.open()
    expectPage(answer, 200)
    expect(answer.text).toContain('<meta name="robots" content="noindex, nofollow">')
    expect(answer.text.replace(OWN_SCRIPT, '')).not.toMatch(/<script|<style|<img|<iframe|src=|style=/)
    const loaded = [...answer.text.matchAll(/<(?:link|script) [^>]*(?:href|src)="([^"]*)"/g)].map(([, address]) => address!)
    const answers = await Promise.all(loaded.map((address) => service.http().get(address)))
    expect(answers.map(({ headers }) => [headers['content-type'], headers['cache-control']])).toEqual([
      ['image/svg+xml', IMMUTABLE],
      ['text/css; charset=utf-8', IMMUTABLE],
      ['text/javascript; charset=utf-8', IMMUTABLE],
    ])
    const within = [...answers[1]!.text.matchAll(/@import|url\([^)]*\)/g)].map(([address]) => address)
    for (const address of within) expect(address).toMatch(/^url\("\.\/inter-[\w.-]+\.woff2"/)
    expect((await service.http().head(candidate.path)).headers).toMatchObject({ 'content-security-policy': PAGE_POLICY })
  })

  it('names the inviting person, the assessment, and the contact', async () => {
    const { organization, contact, assessment, candidate } = await makeInvite({ status })
    const { text } = await candidate.open()
    for (const words of [
      organization,
      assessment.name,
      `${organization} has invited you. Questions? Write to Maya Okafor: `,
      `href="mailto:${contact.email}"`,
    ])
      expect(text).toContain(words)
  })

  it('names the organization as contact if no member generated the key', async () => {
    const { organization, candidate } = await makeInvite({ status, createdById: null })
    expect((await candidate.open()).text).toContain(`${organization} has invited you. Questions? Reply to the invitation email.`)
  })

  it("names the organization's reply address before the inviting person", async () => {
    const { contact, invite, candidate } = await makeInvite({ status })
    const replies = { senderName: 'Talent desk', replyTo: 'talent@example.org' }
    await service.db.organization.update({ where: { id: invite.organizationId }, data: replies })
    const { text } = await candidate.open()
    expect(plainly(text)).toContain('Write to Talent desk: <a href="mailto:talent@example.org">talent@example.org</a>')
    expect(text).not.toContain(contact.email)
  })

  it('names nobody who has left the organization', async () => {
    const { contact, invite, candidate } = await makeInvite({ status })
    await service.db.member.update({ where: { id: invite.createdById! }, data: { status: 'inactive' } })
    const { text } = await candidate.open()
    expect(text).toContain('Questions? Reply to the invitation email.')
    expect(text).not.toContain(contact.email)
  })

  it('encodes the reply address so that it cannot add recipients', async () => {
    const { invite, candidate } = await makeInvite({ status })
    await service.db.organization.update({ where: { id: invite.organizationId }, data: { replyTo: 'a?bcc=b&c%d@example.org' } })
    expect((await candidate.open()).text).toContain('href="mailto:a%3Fbcc%3Db%26c%25d@example.org"')
  })

  it('has exactly the buttons of the possible actions', async () => {
    const { candidate } = await makeInvite({ status })
    const { text } = await candidate.open()
    const actions = [...text.matchAll(/<form method="post" action="([^"]+)" id="[a-z-]+">/g)].map(([, action]) => action)
    const buttons =
      { pending: ['link', 'accept', 'decline'], accepted: ['link', 'consent', 'decline'], started: ['open'] }[status as string] ??
      []
    expect(actions).toEqual(buttons.map((button) => `${candidate.path}/${button}`))
  })
})

describe('the page of a closed invite', () => {
  it.each([
    ['completed', {}, 'You have completed this assessment'],
    ['expired', {}, 'This invitation has expired'],
    ['revoked', {}, 'This invitation is closed'],
    ['revoked', { revokedAt: new Date('2098-03-02'), declinedAt: new Date('2098-03-02') }, 'You have declined this invitation'],
  ] as const)('shows the outcome in its heading, and names the assessment: %s %o', async (status, data, heading) => {
    const { assessment, candidate } = await makeInvite({ status, ...data })
    const text = plainly((await candidate.open()).text)
    expect(text).toContain(`<h1>${heading}</h1>`)
    expect(text).toContain(`<span>${assessment.name}</span>`)
  })

  it.each(['expired', 'revoked'] as const)('has a button that writes to the contact who can reopen it: %s', async (status) => {
    const { contact, assessment, candidate } = await makeInvite({ status })
    const subject = encodeURIComponent(assessment.name)
    expect(plainly((await candidate.open()).text)).toContain(
      `<a href="mailto:${contact.email}?subject=${subject}">Write to Maya Okafor</a>`,
    )
    const nobody = await makeInvite({ status, createdById: null })
    expect((await nobody.candidate.open()).text).not.toContain('mailto:')
  })
})

describe('the page before the start', () => {
  it.each(['pending', 'accepted'] as const)('explains for a %s invite what to expect', async (status) => {
    const { assessment, candidate } = await makeInvite({ status })
    await service.make.question(assessment, { points: 5, audioUrl: 'https://media.example.com/a.mp3' })
    await service.make.question(assessment, { points: 7, responseType: 'audio' })
    const { text } = await candidate.open()
    for (const fact of ['2 questions', '20 minutes 30 seconds', 'Played up to 2 times', 'Recorded once'])
      expect(plainly(text)).toContain(`<strong>${fact}</strong>`)
    expect(text).toContain('12 points in all')
    expect(text).toContain('Monday, 2 March 2099 at 09:30 UTC')
  })

  const [WHOLE, OWN] = [{ timeLimit: 600 }, { timeLimit: 61 }]
  const [RUNS, RUNS_ONCE_OPENED] = [
    'Once you have started, the time',
    'Once you have opened a question with a time limit, its time',
  ]
  const [ORDER, UNTIMED] = ['The questions come one at a time', 'No time limit: Take the time you need']
  const [PLAYED, RECORDED] = ['Played up to 2 times', 'Recorded once']
  const [SOUND, SPOKEN] = [{ audioUrl: 'https://media.example.com/a.mp3' }, { responseType: 'audio' }]
  const FROM_START = '10 minutes: From when you press Start'
  it.each([
    [{}, [{}], [UNTIMED]],
    [{}, [{}, {}], [UNTIMED, ORDER]],
    [WHOLE, [{}], [FROM_START, RUNS]],
    [WHOLE, [{}, OWN], [`${FROM_START}. 1 question has its own limit`, ORDER, RUNS]],
    [{}, [OWN], ['At most 1 minute 1 second: From when you open the question', RUNS_ONCE_OPENED]],
    [{}, [OWN, OWN], ['At most 2 minutes 2 seconds: Each question has its own limit', ORDER, RUNS_ONCE_OPENED]],
    [{}, [{}, OWN], ['No overall time limit: 1 question has its own limit: 1 minute 1 second in all', ORDER, RUNS_ONCE_OPENED]],
    [{}, [SOUND, {}], [UNTIMED, PLAYED, ORDER]],
    [{}, [SPOKEN], [UNTIMED, RECORDED]],
    [WHOLE, [{ ...SOUND, ...SPOKEN, ...OWN }], [`${FROM_START}. 1 question`, PLAYED, RECORDED, RUNS]],
    [{ timeLimit: 1_200 }, [OWN, {}], ['30 minutes: From when you press Start', ORDER, RUNS], 50],
    [{}, [OWN], ['At most 1 minute 31 seconds', RUNS_ONCE_OPENED], 50],
  ])('explains only the settings of the assessment: %o with %o', async (settings, questions, sentences, extraTimePercent = 0) => {
    const { assessment, candidate } = await makeInvite({ status: 'accepted', ...NO_REQUIREMENTS, extraTimePercent })
    await service.db.assessment.update({ where: { id: assessment.id }, data: { timeLimit: 0, ...settings } })
    for (const question of questions) await service.make.question(assessment, question)
    const before = (await candidate.open()).text
    await consent(candidate)
    const text = `${before}${(await candidate.open()).text}`.replaceAll(/<[/]strong><p[^>]*>/g, ': ')
    const all = [FROM_START, RUNS, RUNS_ONCE_OPENED, ORDER, UNTIMED, 'No time limit', 'At most', PLAYED, RECORDED]
    for (const sentence of sentences) expect(text).toContain(sentence)
    const others = all.filter((sentence) => !sentences.some((said) => said.includes(sentence)))
    for (const sentence of others) expect(text).not.toContain(sentence)
  })

  it.each(['pending', 'accepted'] as const)(
    'tells the reader of a %s invite on a phone that a computer is needed, and mails the link',
    async (status) => {
      const { invite, candidate } = await makeInvite({ status, screenRecording: true })
      service.clock.advance(1_000) // a mail of the same instant would be taken for the one of the invite's creation
      const onPhone = (query = '') =>
        service
          .http()
          .get(candidate.path + query)
          .set('user-agent', 'Mozilla/5.0 (iPhone) Mobile Safari')
      const first = (await onPhone()).text
      expect(first.indexOf('You need a computer')).toBeLessThan(first.indexOf('data-own'))
      expect(first).toContain('<div data-computer class="">')
      expect((await candidate.open()).text).toContain('<div data-computer class="hidden">')
      const mails = () => service.db.inviteEmail.findMany({ where: { inviteId: invite.id }, select: { kind: true } })
      const sent = await candidate.press('link').expect(303)
      expect(await mails()).toEqual([{ kind: 'resent' }])
      expect((await service.http().get(sent.headers.location!)).text).toContain('The link is on its way')
      const again = await candidate.press('link').expect(303)
      expect((await service.http().get(again.headers.location!)).text).toContain('The link was emailed to you a short while ago')
      expect(await mails()).toHaveLength(1)
      await service.db.invite.update({ where: { id: invite.id }, data: { waivedChecks: ['screen'] } })
      expect((await onPhone()).text).not.toContain('You need a computer')
    },
  )

  it('greets the candidate, and shows the message of the organization', async () => {
    const { text } = await (await makeInvite()).candidate.open()
    expect(text).toContain('Sam Rivera, you are invited')
    expect(plainly(text)).toContain('<blockquote lang="" dir="auto">We look forward to hearing you.</blockquote>')
    const plain = await (await makeInvite({ recipientName: null, customMessage: '' })).candidate.open()
    expect(plain.text).toContain('You are invited')
    expect(plain.text).not.toContain('<blockquote')
  })

  it('shows the instruction of the assessment after acceptance', async () => {
    const { text } = await (await makeInvite({ status: 'accepted' })).candidate.open()
    expect(plainly(text)).toContain('<h2>Before you start</h2><p lang="" dir="auto">Find a quiet room.</p>')
  })

  it.each([
    [{ screenRecording: true }, 'Your screen is recorded'],
    [{ webcamMonitoring: true }, 'Your webcam is on'],
    [{ requireIdCapture: true }, 'You show an identity document'],
    [{ facePhotoRequired: true }, 'A photo of your face is taken'],
  ])('announces the proctoring: %o', async (asked, words) => {
    const none = { screenRecording: false, webcamMonitoring: false, requireIdCapture: false, facePhotoRequired: false }
    const facts = async (data: object) => {
      const { text } = await (await makeInvite({ ...none, ...data })).candidate.open()
      return [...plainly(text).matchAll(/<div><strong>(.*?)<\/strong>/g)].map(([, fact]) => fact!)
    }
    const before = await facts({})
    expect((await facts(asked)).filter((fact) => !before.includes(fact))).toEqual([words])
  })
})

/** Opens the only question of an assessment, and returns its page. */
async function openQuestion(question: Parameters<Service['make']['question']>[1], data: Parameters<typeof makeInvite>[0] = {}) {
  const made = await makeInvite({ status: 'started', ...NO_REQUIREMENTS, assessmentSession: service.deps.newId(), ...data })
  await service.make.question(made.assessment, question)
  await made.candidate.press('open', { number: '1' })
  await consent(made.candidate)
  await made.candidate.press('open', { number: '1' })
  return (await made.candidate.open()).text
}

describe('the page of an open question', () => {
  it('shows script, media, limits, and points', async () => {
    const media = { audioUrl: 'https://media.example.com/a.mp3?x=1&y=2', videoUrl: 'http://media.example.com/v.mp4' }
    const text = await openQuestion({ script: 'First\nline', responseType: 'audio', timeLimit: 61, points: 1, ...media })
    expect(text).toContain('<p class="script" lang="" dir="auto">First\nline</p>')
    expect(text).toContain('<a href="https://media.example.com/a.mp3?x=1&amp;y=2" rel="noreferrer">')
    expect(text).toContain('<a href="http://media.example.com/v.mp4" rel="noreferrer">')
    expect(text).toContain('Answer by audio, within 1 minute 1 second.')
    expect(text).toContain('1 point</h2>')
    await Promise.all(['ar', 'de'].map((code) => service.make.language(code)))
    const translated = await openQuestion({ script: 'سؤال', responseType: 'text', sourceLanguage: 'ar', targetLanguage: 'de' })
    expect(translated).toContain('<p class="script" lang="ar" dir="auto">سؤال</p>')
    expect(plainly(translated)).toContain('<textarea id="answer" name="text" lang="de" dir="auto"')
    expect(translated).toContain('Translate from Arabic into German.')
    const plain = await openQuestion({ script: 'Second', responseType: 'video' })
    expect(plain).not.toContain('data-direction')
    expect(plain).toContain('Answer by video.</p>')
    expect(plain).not.toContain('<a href="http')
  })

  it.each([
    'javascript:alert(1)',
    ' JavaScript:alert(1)',
    'java\tscript:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    '//x.example',
    'x:y',
    'https://',
  ])('does not link to the address %j', async (address) => {
    const text = await openQuestion({ script: 'Q', audioUrl: address, videoUrl: address })
    expect([...text.matchAll(/<a [^>]*href="([^"]*)"/g)].map(([, href]) => href!.split(':')[0])).toEqual(['mailto'])
  })
})

describe('text that looks like markup', () => {
  it.each(states)('is escaped wherever a user has written it, on the page of a %s invite', async (status) => {
    const hostile = `"><script>alert('1')</script><img src=x onerror=alert(1)>{{7*7}}<%= 7*7 %>`
    const { organization, contact, assessment, invite, candidate } = await makeInvite({
      status,
      assessmentSession: service.deps.newId(),
      recipientName: hostile,
      customMessage: hostile,
    })
    await service.db.organization.update({ where: { id: invite.organizationId }, data: { name: hostile + organization } })
    await service.db.user.update({
      where: { id: contact.userId },
      data: { firstName: hostile, lastName: hostile, email: `${hostile}${organization}` },
    })
    await service.db.assessment.update({ where: { id: assessment.id }, data: { name: hostile } })
    await service.db.instruction.updateMany({
      where: { organizationId: invite.organizationId },
      data: { title: hostile, body: hostile },
    })
    const media = { audioUrl: `https://x.example/${hostile}`, videoUrl: `https://x.example/' onclick='alert(1)` }
    await service.make.question(assessment, { script: hostile, responseType: hostile, ...media })
    if (status === 'started') {
      await candidate.press('open', { number: '1' })
      await consent(candidate)
      await candidate.press('open', { number: '1' })
    }
    const { text } = await candidate.open()
    expect(text.replace(OWN_SCRIPT, '')).not.toMatch(/<script|<img|onerror=[^&]*>{{49|' onclick='/)
    expect(text).toContain(
      '&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;{{7*7}}&lt;%= 7*7 %&gt;',
    )
    expect(plainly(text).match(/<h1>.*<\/h1>/)?.[0]).toMatch(/^<h1>[^<>]+<\/h1>$/)
  })
})
