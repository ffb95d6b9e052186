import { describe, expect, it } from 'vitest'
import { toText } from '../../../src/html/html.ts'
import { fromMarkdown } from '../../../src/http/pages/markdown.ts'
import { readHtml } from '../../../src/kinds/file-formats/html-text.ts'

const read = (html: string) => readHtml(html, () => null)

/** Renders HTML without attributes and without the contents of formulas. */
const render = (html: string) =>
  toText(fromMarkdown(read(html).text))
    .replace(/<math[\s\S]*?<\/math>/g, '<math>')
    .replaceAll(/<\/?span[^>]*>/g, '')
    .replace(/<(\w+) [^>]*>/g, '<$1>')
    .replace(/^<div>|<\/div>$/g, '')

describe('HTML with formatting', () => {
  it.each<[string, string, string]>([
    ['line breaks', '<b>a</b><br>b<br><br>c<br>', '<p><strong>a</strong><br>b</p><p>c</p>'],
    ['a line break in an item', '<ul><li>a<br><br>b</li><li>c</li></ul>', '<ul><li>a<br>b</li><li>c</li></ul>'],
    ['signs in code', '<p>Is <code>a_b * c &lt; `d` </code>x?</p>', '<p>Is <code>a_b * c &lt; `d`</code> x?</p>'],
    ['tags in code', '<code><b>a</b> <span>\\(b\\)</span></code>', '<p><code>a \\(b\\)</code></p>'],
    ['code that isn’t closed', '<code>a*b', '<p><code>a*b</code></p>'],
    [
      'a code block',
      'x<pre>\n  if *a*:\n\n\n    ```b\n</pre>y',
      '<p>x</p><pre><code>  if *a*:\n\n\n    ```b\n</code></pre><p>y</p>',
    ],
    [
      'entities',
      '<i>a</i> &amp;lt; &amp;amp;<span>#60;</span> AT&amp;T & b',
      '<p><em>a</em> &amp;lt; &amp;amp;#60; AT&amp;T &amp; b</p>',
    ],
    [
      'signs of lists',
      '<b>a</b><p>- b<p>+ c<p>1. d<p>2) e<p>-5',
      '<p><strong>a</strong></p><p>- b</p><p>+ c</p><p>1. d</p><p>2) e</p><p>-5</p>',
    ],
    ['signs of lists in parts', '<b>a</b><p>1<span>.</span> b', '<p><strong>a</strong></p><p>1. b</p>'],
    ['a sign of a list in an item', '<ol><li>- a</li></ol>', '<ol><li>- a</li></ol>'],
    [
      'signs of fences and tables',
      '<b>a</b><p>~~~ b<p>c | d<br>--|--',
      '<p><strong>a</strong></p><p>~~~ b</p><p>c | d<br>--|--</p>',
    ],
    ['white space in marks', 'a<b> b </b>c<i>&nbsp;d</i>', '<p>a <strong>b</strong> c <em>d</em></p>'],
    ['empty marks', 'a<b></b> <i> </i>b', '<p>a b</p>'],
    ['adjacent marks', '<b>a</b><b>b</b> <b><i>c</i></b>', '<p><strong>ab <em>c</em></strong></p>'],
    ['marks around paragraphs', '<b><p>a</p><p>b</p></b>c', '<p><strong>a</strong></p><p><strong>b</strong></p><p>c</p>'],
    ['marks that cross', '<b>a <i>b</b> c</i>', '<p><strong>a <em>b</em></strong> <em>c</em></p>'],
    ['a mark that isn’t closed', '<b>a', '<p><strong>a</strong></p>'],
    ['formulas', '\\(a\\) \\(b\\)5 \\[c\\]', '<p><math> <math>5 <math></p>'],
    ['formulas with a dollar sign', '\\(5\\$\\) <b>a</b>', '<p>\\(5\\$\\) <strong>a</strong></p>'],
  ])('shows %s as in the source', (_, html, shown) => {
    expect(render(html)).toBe(shown)
  })

  it('reads many tags quickly', () => {
    for (const part of ['a<br>', 'a<b>b</b>', '<code>`', '<b>a', 'a<td>', '<li>-']) {
      const began = process.cpuUsage().user
      read(part.repeat(50_000 / part.length))
      expect(process.cpuUsage().user - began, part).toBeLessThan(2_000_000)
    }
  })
})
