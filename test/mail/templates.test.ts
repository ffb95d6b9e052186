import fc from 'fast-check'
import { expect, it } from 'vitest'
import { findSubjectFault, findTemplateFault, PLACEHOLDERS } from '../../src/domain/mails/template-text.ts'
import { shippedLanguages } from '../../src/locales/languages.ts'
import { fillTemplate } from '../../src/mail/fill-template.ts'
import { renderParts } from '../../src/mail/message.ts'
import { scaled } from '../support/scale.ts'

const t = shippedLanguages.mail('en', 'UTC')
const LINK = 'https://assess.example.org/i/AbCdEf'
const button = { kind: 'button', url: LINK, label: 'Open the invitation' } as const
const nothing = {
  candidate_name: '',
  assessment: '',
  organization: '',
  sender_name: '',
  question_count: '',
  time_limit: '',
  expires_at: '',
  expires_in: '',
  message: '',
  submitted_at: '',
}
const fill = (body: string, values: Partial<typeof nothing> = {}, subject = 'Hello') =>
  renderParts(t, fillTemplate({ subject, body }, { ...nothing, ...values }, button))
const wordsOf = (said: string): string[] => [...new Set(said.match(/[\p{L}\d]+/gu) ?? [])].sort()
const decode = (text: string) =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&')
const bodyOf = (html: string) => html.slice(html.indexOf('<body'))

it('renders a small Markdown with the button in place', () => {
  const { subject, html, text } = fill(
    'Hi {{ candidate_name | default: "there" }},\n\n**{{ organization }}** asks you:\n\n- *one*\n- [two](https://acme.example/a)\n\n{{ link }}\n\nBye\nMaya',
    { organization: 'Acme' },
    'For {{ candidate_name | default: "you" }} from {{ organization }}',
  )
  expect(subject).toBe('For you from Acme')
  expect(text).toBe(
    `Hi there,\n\nAcme asks you:\n\n- one\n- two (https://acme.example/a)\n\nOpen the invitation\n${LINK}\n\nBye\nMaya\n`,
  )
  for (const part of ['<strong><bdi>Acme</bdi></strong>', '<em>one</em>', 'href="https://acme.example/a"', 'Bye<br>Maya'])
    expect(html).toContain(part)
})

it('drops a paragraph whose placeholders are all empty, and quotes a message', () => {
  const body = 'Dear {{ candidate_name }},\n\nFor {{ time_limit }} at most.\n\n{{ message }}\n\n{{ link }}'
  expect(fill(body).text).toBe(`Open the invitation\n${LINK}\n`)
  const { text, html } = fill(body, { candidate_name: 'Sam', message: 'One\nTwo' })
  expect(text).toBe(`Dear Sam,\n\n> One\n> Two\n\nOpen the invitation\n${LINK}\n`)
  expect(html).toContain('One<br>Two</blockquote>')
})

it.each([
  ['Hello', /needs \{\{ link \}\} once/],
  ['One\n\nTwo {{ nobody }}\n\n{{ link }}', /^Line 3: \{\{ nobody \}\} is no placeholder/],
  ['One\nTwo {{ assessment\n\n{{ link }}', /^Line 2: A placeholder is begun or ended/],
  ['One }}\n\n{{ link }}', /^Line 1: A placeholder is begun or ended/],
  ['{{ link }}\n\n{{ link }}', /^Line 3: .*only once/],
  ['Press {{ link }} now', /^Line 1: .*paragraph of its own/],
  ['- {{ link }}', /^Line 1: .*paragraph of its own/],
  ['[x](https://evil.example/{{link}})\n\n{{ link }}', /^Line 1: No placeholder can be part of an address/],
  ['{{ candidate_name | upcase }}\n\n{{ link }}', /^Line 1: .*is no placeholder/],
  ['\\{{ link }}', /placeholder/],
  ['*'.repeat(1_001), /at most 1,000/],
])('rejects a body with its line number: %j', (body, why) => {
  expect(findTemplateFault('invitation', body)).toMatch(why)
})

it.each(['Hi {{ nobody }}', 'Hi {{ link }}', 'Hi {{ message }}', 'Hi {{ assessment', 'Hi }}'])(
  'rejects a subject: %s',
  (subject) => {
    expect(findSubjectFault('invitation', subject)).not.toBeNull()
  },
)

const HOSTILE = [
  '{{ constructor }}',
  '{{ __proto__ }}',
  '{{ toString }}',
  '{{ candidate_name.constructor }}',
  '{{ link | default: "<script>" }}',
  '{% for i in (1..100000000) %}x{% endfor %}',
  '{{{ candidate_name }}}',
  '<%= process.env %>',
  '{{'.repeat(2_500),
  '}}'.repeat(2_500),
  '{{ '.repeat(1_666),
  '> '.repeat(2_500),
  '- '.repeat(2_500),
  '1. '.repeat(1_666),
  '['.repeat(1_000),
  '[a]('.repeat(1_000),
  '*a '.repeat(1_000),
  '_'.repeat(1_000),
  '![x](https://evil.example/x.png)',
  '<script>alert(1)</script>',
  '<a href="javascript:alert(1)">x</a>',
  '[x](javascript:alert(1))',
  '[x](http://evil.example)',
  '[x](data:text/html,x)',
  '<https://evil.example>',
  'https://evil.example',
  '&lt;script&gt;',
  '[x]: https://evil.example\n\n[x]',
  '\\<b>',
  '\u0000\u202e',
  '```\n<b>\n```',
  '| a |\n|---|\n| b |',
  '# head',
  '***bold***',
  '**[x](mailto:a@example.com)**',
]
it.each(HOSTILE)('renders harmlessly or rejects within a quarter of a second: %j', (hostile) => {
  const body = `${hostile}\n\n{{ link }}`
  const begun = process.cpuUsage()
  if (findTemplateFault('invitation', body) === null) expectHarmless(body, fill(body, { candidate_name: hostile }))
  const { user, system } = process.cpuUsage(begun)
  expect((user + system) / 1_000).toBeLessThan(250)
})

/** Expects the same words in both parts, only tags of the renderer, and only the addresses of the button and of the author's links. */
function expectHarmless(body: string, { html, text }: { html: string; text: string }): void {
  const printed = bodyOf(html)
  expect(printed.replaceAll(/<\/?(?:body|table|tr|td|p|br|ul|ol|li|a|strong|em|bdi|blockquote|html)\b[^<>]*>/g, '')).not.toMatch(
    /[<>]/,
  )
  const addresses = [...printed.matchAll(/ href="([^"]*)"/g)].map(([, address]) => decode(address!))
  for (const address of addresses) {
    expect(address === LINK || /^(?:https|mailto):/i.test(address)).toBe(true)
    if (address !== LINK) expect(body).toMatch(/\]\(\s*<?(?:https|mailto):/i)
  }
  // In the text part, a link's address follows its words.
  const inLine = printed.replaceAll('</a>', ' ').replaceAll(/<\/?(?:a|strong|em|bdi)\b[^>]*>/g, '')
  const said = decode(inLine.replaceAll(/<[^>]*>/g, ' '))
  expect(wordsOf(text)).toEqual(expect.arrayContaining(wordsOf(said)))
}

it('renders 10,000 random texts and values harmlessly', () => {
  const bit = fc.oneof(
    {
      weight: 3,
      arbitrary: fc.constantFrom(...PLACEHOLDERS.invitation.filter((name) => name !== 'link').map((name) => `{{ ${name} }}`)),
    },
    {
      weight: 3,
      arbitrary: fc.constantFrom(
        '**',
        '*',
        '_',
        '\n',
        '\n\n',
        '- ',
        '1. ',
        '> ',
        '[',
        '](https://acme.example)',
        '<b>',
        '"',
        '&',
        '{{',
        '}}',
        '\\',
      ),
    },
    { weight: 2, arbitrary: fc.string({ maxLength: 8 }) },
    { weight: 1, arbitrary: fc.constant('{{ candidate_name | default: "there" }}') },
  )
  const value = fc.oneof(
    fc.string({ maxLength: 20 }),
    fc.constantFrom('', '[x](https://evil.example)', '<b>', '{{ link }}', '**', 'a\nb'),
  )
  fc.assert(
    fc.property(fc.array(bit, { maxLength: 25 }), value, value, (bits, candidate_name, message) => {
      const body = `${bits.join('')}\n\n{{ link }}`
      if (findTemplateFault('invitation', body) !== null) return
      const parts = fill(body, { candidate_name, message })
      expect(parts.html).not.toContain('evil.example"')
      expectHarmless(body, parts)
    }),
    { numRuns: scaled(500, 10_000) },
  )
})
