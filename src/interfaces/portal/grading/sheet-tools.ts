import { type Html, html } from '../../../html/html.ts'

const KEYS: [key: string, description: string][] = [
  ['j', 'next question'],
  ['k', 'previous question'],
  ['p', 'play or pause the answer'],
  ['b', 'ten seconds back'],
  ['f', 'ten seconds forward'],
  ['<', 'slower'],
  ['>', 'faster'],
  ['s', 'skip silence, or play it'],
  ['0 … 9', 'give that many points; for 10 type 1, then 0'],
  ['1 … 6', 'with a rubric: choose a level, go on to the next criterion'],
  ['Backspace', 'back to the criterion before'],
  ['e', 'change the points of a graded question'],
  ['z', 'undo the last change of points, or the last level'],
  ['+', 'half a point more; starts at 0'],
  ['-', 'half a point less; starts at the maximum'],
  ['m', 'note at this moment'],
  ['M', 'end of the note'],
  ['c', 'write the comment'],
  ['Esc', 'leave the field'],
  ['n', 'next submission'],
  ['N', 'previous submission'],
  ['?', 'show or hide these shortcuts'],
]

/** Other keys where one question is graded after the other. */
const KEYS_OF_ONE: Record<string, string> = {
  j: 'next criterion',
  k: 'previous criterion',
  n: 'skip to the next answer',
  N: 'previous answer',
}

/**
 * Progress, and the controls that need scripts. Stays in view while scrolling.
 *
 * @param shown questions on the page: all of a submission, or one.
 */
export const gradingTools = (
  progress: Html,
  shown: 'all' | 'one',
): Html => html`<section class="panel z-10 flex flex-wrap items-center gap-x-6 gap-y-3 px-5 py-3 lg:sticky lg:top-2 print:hidden" aria-label="Progress and shortcuts" data-tools>
<div class="min-w-56 grow" data-part="${shown === 'all' && 'progress'}">${progress}</div>
<label class="noscript:hidden flex items-center gap-2 text-sm font-medium">Speed
<select class="select select-sm w-20" data-speed>
${['0.75', '1', '1.25', '1.5', '1.75', '2'].map((speed) => html`<option value="${speed}" ${speed === '1' && html`selected`}>${speed}×</option>`)}
</select>
</label>
<label class="noscript:hidden flex items-center gap-2 text-sm font-medium" hidden><input class="checkbox checkbox-sm" type="checkbox" data-skip-silence> Skip silence</label>
<details class="noscript:hidden pointer-coarse:hidden dropdown dropdown-end max-sm:basis-full" data-shortcuts>
<summary class="btn btn-sm">Keyboard shortcuts</summary>
<div class="dropdown-content bg-base-100 border-base-300 rounded-box z-10 mt-1 w-80 space-y-2 border p-4 shadow-lg max-sm:static max-sm:w-full max-sm:shadow-none">
<label class="flex items-center gap-2.5 py-1 text-sm"><input class="checkbox checkbox-sm" type="checkbox" data-keys checked> Use keyboard shortcuts</label>
<p class="hint">They act on the question you are at, while you are not typing.</p>
<dl class="grid grid-cols-[max-content_1fr] items-center gap-x-3 gap-y-1.5 text-sm">${keysOf(shown).map(([key, description]) => html`<dt>${key.split(' ').map((keyName) => html`<kbd class="kbd kbd-sm">${keyName}</kbd> `)}</dt><dd>${description}</dd>`)}</dl>
</div>
</details>
</section>`

const keysOf = (shown: 'all' | 'one'): [key: string, description: string][] =>
  shown === 'all'
    ? KEYS
    : [
        ['Enter', 'save, next answer'],
        ...KEYS.map(([key, description]): [string, string] => [key, KEYS_OF_ONE[key] ?? description]),
      ]
