import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { html, toText } from '../../src/html/html.ts'
import { scaled } from '../support/scale.ts'

describe('an html template', () => {
  it('escapes values in text and in attributes', () => {
    const value = `<b>"it's" & more</b>`
    expect(toText(html`<p title="${value}">${value}</p>`)).toBe(
      '<p title="&lt;b&gt;&quot;it&#39;s&quot; &amp; more&lt;/b&gt;">&lt;b&gt;&quot;it&#39;s&quot; &amp; more&lt;/b&gt;</p>',
    )
  })

  it('escapes values in noscript', () => {
    const value = '</noscript><script>alert(1)</script>'
    const escaped = '&lt;/noscript&gt;&lt;script&gt;alert(1)&lt;/script&gt;'
    expect(toText(html`<noscript><p>${value}</p></noscript>`)).toBe(`<noscript><p>${escaped}</p></noscript>`)
  })

  it('nests, joins lists, and prints numbers, but no missing values', () => {
    const items = ['a', 'b'].map((name) => html`<li>${name}</li>`)
    expect(toText(html`<ul class="n${0}">${items}${false}${null}${undefined}${[1, '<']}</ul>`)).toBe(
      '<ul class="n0"><li>a</li><li>b</li>1&lt;</ul>',
    )
  })

  it('prints a boolean attribute only if it is a template', () => {
    const input = (checked: boolean) => toText(html`<input name="x" ${checked && html`checked`}>`)
    expect([input(true), input(false)]).toEqual(['<input name="x" checked>', '<input name="x" >'])
    expect(() => html`<input ${'onfocus=alert(1)'}>`).toThrow('name of an attribute')
    expect(() => html`<input ${html`${'onfocus=alert(1)'}`}>`).toThrow('name of an attribute')
    expect(() => html`<p title="${html`<b></b>`}"></p>`).toThrow('attribute')
  })

  it.each([
    'javascript:alert(1)',
    ' javascript:alert(1)',
    'JavaScript:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    '\u0001javascript:x',
  ])('replaces an unsafe URL: %j', (address) => {
    expect(toText(html`<a href="${address}">x</a>`)).toBe('<a href="#">x</a>')
  })

  it.each(['/portal', '?page=2', '#main', 'https://example.com/?a=1', 'mailto:a@example.com'])('keeps the URL %j', (address) => {
    expect(toText(html`<form action="${address}"></form>`)).toBe(`<form action="${address.replace('&', '&amp;')}"></form>`)
    expect(toText(html`<a href="/x/${'javascript:alert(1)'}">x</a>`)).toBe('<a href="/x/javascript:alert(1)">x</a>')
  })

  it('rejects values in other positions', () => {
    const refused: (() => unknown)[] = [
      () => html`<script>${'x'}</script>`,
      () => html`<style>${'x'}</style>`,
      () => html`<iframe>${'x'}</iframe>`,
      () => html`<!-- ${'x'} -->`,
      () => html`<p title=${'x'}></p>`,
      () => html`<p title='${'x'}'></p>`,
      () => html`<${'x'}></p>`,
      () => html`<p${'x'}></p>`,
      () => html`<p data-${'x'}="y"></p>`,
      () => html`<p onclick="${'x'}"></p>`,
      () => html`<p style="color: ${'x'}"></p>`,
      () => html`<iframe srcdoc="${'x'}"></iframe>`,
      () => html`<p title="a"${'x'}></p>`,
      () => html`<p title="${'x'}`,
      () => html`<p `,
      () => html`<script>`,
    ]
    for (const make of refused) expect(make).toThrow('where none may stand')
    expect(toText(html`<title>${'</title><script>'}</title><textarea>${'</textarea>'}</textarea>`)).toBe(
      '<title>&lt;/title&gt;&lt;script&gt;</title><textarea>&lt;/textarea&gt;</textarea>',
    )
  })

  it('contains any text in any position', () => {
    const hostile = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc
        .array(fc.constantFrom('<', '>', '"', "'", '&', '=', ' ', '/', '`', 'on', 'script', '-->', '\n', '\0', 'x'))
        .map((parts) => parts.join('')),
    )
    fc.assert(
      fc.property(hostile, (text) => {
        const page = toText(
          html`<p class="${text}"><a href="/${text}" title="a ${text} b">${text}</a><textarea>${text}</textarea></p>`,
        )
        const shape = page.replace(/"[^"]*"/g, '""').replace(/>[^<]*</g, '><')
        expect(shape).toBe('<p class=""><a href="" title=""></a><textarea></textarea></p>')
      }),
      { numRuns: scaled(200, 2_000) },
    )
  })
})
