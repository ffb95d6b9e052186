import { describe, expect, it, onTestFinished } from 'vitest'
import { toText } from '../../../src/html/html.ts'
import { fromMarkdown, markdownToText } from '../../../src/http/pages/markdown.ts'
import { isBrowserInstalled, startBrowser } from '../../support/browser.ts'

const shown = (text: string): string => toText(fromMarkdown(text)).replace(/^<div[^>]*>|<\/div>$/g, '')

describe('fromMarkdown', () => {
  it.each([
    ['one *two* **three**', '<p>one <em>two</em> <strong>three</strong></p>'],
    ['one\ntwo\n\nthree', '<p>one<br>two</p><p>three</p>'],
    ['2 * 3 * 4 and a_b_c', '<p>2 * 3 * 4 and a_b_c</p>'],
    ['a `<b>` c', '<p>a <code class="bg-base-200 rounded-field px-1 text-[0.9em]">&lt;b&gt;</code> c</p>'],
    ['> said', '<blockquote class="border-base-300 border-s-4 ps-4"><p>said</p></blockquote>'],
    ['- a\n- b', '<ul class="list-disc space-y-1 ps-6"><li>a</li><li>b</li></ul>'],
    ['3. a', '<ol class="list-decimal space-y-1 ps-6" start="3"><li>a</li></ol>'],
    ['# 1 is no heading', '<p># 1 is no heading</p>'],
    ['<b>bold</b> &amp; <!-- so -->', '<p>&lt;b&gt;bold&lt;/b&gt; &amp; &lt;!-- so --&gt;</p>'],
    [
      '[site](https://example.com/?a=1&b=2)',
      '<p><a class="link" href="https://example.com/?a=1&amp;b=2" rel="noreferrer" target="_blank">site</a></p>',
    ],
    ['[other](http://example.com)', '<p>[other](http://example.com)</p>'],
    ['![A map](https://example.com/map.png)', '<p>A map</p>'],
  ])('renders %j', (text, expected) => {
    expect(shown(text)).toBe(expected)
  })

  it.each(['**a*', 'a|b\n-|-\n', '[[]', '``a`'])('renders a text with too many marks as plain text: %j', (mark) => {
    const text = mark.repeat(1_250).slice(0, 5_000)
    expect(toText(fromMarkdown(text))).toBe(`<p class="script" lang="" dir="auto">${text}</p>`)
  })

  it.each([
    ['It is $x^2$.', '<msup><mi>x</mi><mn>2</mn></msup>'],
    ['$a<b$', '<mo>&lt;</mo>'],
    ['$$\\frac{1}{2}$$', 'display="block"'],
    ['$x$ and $y$', '</math></span> and <span class="katex"><math'],
  ])('renders formulas as MathML: %j', (text, expected) => expect(shown(text)).toContain(expected))

  it.each([
    ['$5 to $10', '<p>$5 to $10</p>'],
    ['$5-$10', '<p>$5-$10</p>'],
    ['\\$x\\$', '<p>$x$</p>'],
    ['$$', '<p>$$</p>'],
    [`$${'x'.repeat(1_001)}$`, `<p>$${'x'.repeat(1_001)}$</p>`],
    ['`$x$`', '<p><code class="bg-base-200 rounded-field px-1 text-[0.9em]">$x$</code></p>'],
  ])('renders no formula in %j', (text, expected) => expect(shown(text)).toBe(expected))

  it.each(['\\frac{1}{', '\\def\\a{\\a\\a}\\a', '\\href{javascript:hit=1}{x', '\\unknown{x'])(
    'shows a formula that it can not read as it is written: %j',
    (tex) => {
      const source = tex.replaceAll('&', '&amp;')
      expect(shown(`$${tex}$`)).toBe(`<p><code class="bg-base-200 rounded-field px-1 text-[0.9em]">${source}</code></p>`)
    },
  )

  it('shows formulas beyond the hundredth as they are written', () => {
    expect(shown('$x$ '.repeat(101)).match(/<math/g)).toHaveLength(100)
  })

  it('writes neither styles nor addresses into formulas', () => {
    const commands = [
      '\\color{red}x',
      '\\rule{9em}{9em}',
      '\\href{https://a.test}{x}',
      '\\includegraphics{x}',
      '\\htmlStyle{a:b}{x}',
      '\\boxed{x}',
    ]
    for (const command of commands) expect(shown(`$${command}$`), command).not.toMatch(/ (?:style|href|src)=/)
  })

  it('marks the parts of code in a known language, and leaves other code unchanged', () => {
    const code = 'if (a < b) "x"'
    expect(shown(`\`\`\`js\n${code}\n\`\`\``)).toContain(
      '<span class="hljs-keyword">if</span> (a &lt; b) <span class="hljs-string">&quot;x&quot;</span>',
    )
    for (const language of ['', 'nonsense', 'constructor'])
      expect(shown(`\`\`\`${language}\n${code}\n\`\`\``)).toContain('<code>if (a &lt; b) &quot;x&quot;\n</code>')
  })

  it('loads each language that it names', () => {
    const named = 'bash c cpp c# css go html java js json kotlin php python r ruby rust sql swift ts xml yaml'.split(' ')
    for (const language of named) expect(shown(`\`\`\`${language}\n"a" 1 // b\n\`\`\``), language).toContain('<pre')
  })

  it('renders tables and code', () => {
    expect(shown('| a | b |\n|---|---|\n| 1 | 2 |')).toMatch(/<table.*<th scope="col">a<\/th>.*<td>2<\/td>.*<\/table>/s)
    expect(shown('```\nif (a < b) "x"\n```')).toMatch(/<code>if \(a &lt; b\) &quot;x&quot;\n<\/code>/)
  })
})

describe('markdownToText', () => {
  it.each([
    ['one *two* **three** `four`', 'one two three four'],
    ['one\ntwo\n\n> three', 'one\ntwo\n\nthree'],
    ['2 * 3 * 4, a_b_c, 5 &lt; 6 and <b>', '2 * 3 * 4, a_b_c, 5 < 6 and <b>'],
    ['Do:\n\n- a\n- b\n   1. c\n   2. *d*\n\nThen?', 'Do:\n\n• a\n• b\n   1. c\n   2. d\n\nThen?'],
    ['[site](https://example.com) or [https://a.test](https://a.test)', 'site (https://example.com) or https://a.test'],
    [
      'Where?\n\n![A *map*](asset:0197a3f2-6c1e-7b52-9d0a-3f1c2b4d5e75) ![](asset:0197a3f2-6c1e-7b52-9d0a-3f1c2b4d5e75)',
      'Where?\n\n[A *map*]',
    ],
    ['| a | b |\n|---|---|\n| 1 | 2 |', 'a\tb\t\n1\t2'],
    ['```js\nif (a < b)\n```\nWhy?', 'if (a < b)\n\nWhy?'],
  ])('renders %j', (text, expected) => {
    expect(markdownToText(text)).toBe(expected)
  })
})

const HIT = 'globalThis.hit=1'
const AWAY = 'https://hostile.example.com/x'
/** Payloads that try to run a script or load a resource. */
const PAYLOADS = [
  `<script>${HIT}</script>`,
  `<img src=x onerror="${HIT}">`,
  `<svg onload=${HIT}>`,
  `<iframe src="javascript:${HIT}"></iframe>`,
  `<img src="${AWAY}">`,
  `<link rel=stylesheet href="${AWAY}">`,
  `<style>@import "${AWAY}"</style>`,
  `<a href="javascript:${HIT}" autofocus onfocus="${HIT}">x</a>`,
  `[x](javascript:${HIT})`,
  `[x](JaVaScRiPt:${HIT})`,
  `[x](java&#115;cript:${HIT})`,
  `[x](&#x6a;avascript:${HIT})`,
  `[x](data:text/html,<script>${HIT}</script>)`,
  `[x](vbscript:${HIT})`,
  `[x](https://a.example"onmouseover="${HIT})`,
  `[x](<https://a.example/ " onfocus=${HIT} autofocus ">)`,
  `[x](https://a.example '" onclick="${HIT}')`,
  `![x](${AWAY})`,
  `![x](javascript:${HIT})`,
  `![x](data:image/svg+xml,<svg onload=${HIT}>)`,
  `![x](asset:"onerror="${HIT})`,
  `![x" onerror="${HIT}](asset:1)`,
  `[![x](${AWAY})](javascript:${HIT})`,
  `<${AWAY}>`,
  `[x]: javascript:${HIT}\n\n[x]`,
]
/** Contexts of the payloads. */
const PLACES = [
  (it: string) => it,
  (it: string) => `> - ${it}`,
  (it: string) => `| ${it.replaceAll('\n', ' ')} | b |\n|---|---|\n| ${it.replaceAll('\n', ' ')} | ${it.replaceAll('\n', ' ')} |`,
  (it: string) => `**${it}** _${it}_`,
  (it: string) => `\`\`\`${it}\n${it}\n\`\`\``,
  (it: string) => `\`${it}`,
  (it: string) => `$${it}$ $$${it}$$ $\\text{${it}}$`,
  (it: string) => `\`\`\`html\n${it}\n\`\`\``,
  (it: string) => `</div></main>${it}`,
  (it: string) => `\\${it} &lt;b&gt; \u0000\u202e${it}`,
]
const HOSTILE = PAYLOADS.flatMap((payload) => PLACES.map((place) => place(payload)))
const FORMULAS = 'span math semantics annotation mrow mi mn mo mtext mstyle mspace msup msub mfrac mpadded'
const ELEMENTS = `div p br strong em code pre ul ol li blockquote table thead tbody tr th td a ${FORMULAS}`.split(' ')
const OF_FORMULAS = [
  'xmlns',
  'display',
  'encoding',
  'mathvariant',
  'stretchy',
  'fence',
  'separator',
  'form',
  'lspace',
  'rspace',
  'width',
]
const ATTRIBUTES = ['class', 'lang', 'dir', 'start', 'scope', 'href', 'rel', 'target', 'tabindex', ...OF_FORMULAS]

describe(`the list of ${HOSTILE.length} hostile texts`, () => {
  it('has 250 entries', () => expect(HOSTILE).toHaveLength(250))

  it.skipIf(!isBrowserInstalled)(
    'runs no script, loads nothing, and adds only allowed elements (skipped without chromium)',
    async () => {
      const browser = await startBrowser()
      onTestFinished(() => browser.close())
      const page = await browser.newPage()
      const asked: string[] = []
      await page.route('**', (route) => {
        asked.push(route.request().url())
        return route.abort()
      })
      await page.setContent(`<main>${HOSTILE.map((text) => toText(fromMarkdown(text))).join('')}</main><p id="end"></p>`)
      const found = (await page.evaluate(`({
      hit: globalThis.hit,
      inside: document.querySelectorAll('main > div').length,
      end: document.querySelector('#end').parentElement.localName,
      elements: [...new Set([...document.querySelectorAll('main *')].map((one) => one.localName))],
      attributes: [...new Set([...document.querySelectorAll('main *')].flatMap((one) => one.getAttributeNames()))],
      schemes: [...new Set([...document.querySelectorAll('main a')].map((one) => one.protocol))],
    })`)) as Record<'elements' | 'attributes' | 'schemes', string[]> & { hit: unknown; inside: number; end: string }
      expect(asked).toEqual([])
      expect(found.hit).toBeUndefined()
      expect([found.inside, found.end]).toEqual([250, 'body'])
      expect(found.elements.filter((name) => !ELEMENTS.includes(name))).toEqual([])
      expect(found.attributes.filter((name) => !ATTRIBUTES.includes(name))).toEqual([])
      expect(found.schemes.filter((scheme) => !['https:', 'mailto:'].includes(scheme))).toEqual([])
    },
  )
})
