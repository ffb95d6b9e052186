import type { Context } from '../../../domain/context.ts'
import type { LibraryComparison } from '../../../domain/library/add-from-library.ts'
import type { LibraryContent } from '../../../domain/library/content.ts'
import { type Html, html } from '../../../html/html.ts'
import { formatCount, formatDuration } from '../../../http/pages/candidate-view.ts'
import { labelKind } from '../../../kinds/labels.ts'
import { type DefinitionTrait, outlineDefinition } from '../../../kinds/outline.ts'
import { FORMAT_LABELS, labelOf } from '../kit/assessment-labels.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'
import { linesOfRubric } from '../kit/rubric.ts'
import { table } from '../kit/table.ts'
import { libraryButtons } from '../library/library-box.ts'
import { labelLanguageWithCode } from './languages.ts'

/** Differences between an assessment's question and the newest version of its library question. @param path of the assessment's question. */
export function differencePage(ctx: Context, path: string, { origin, mine, theirs }: LibraryComparison): Page {
  const [ownTraits, libraryTraits] = [traitsOf(mine), traitsOf(theirs)]
  const labels = [...new Set([...ownTraits, ...libraryTraits].map(({ label }) => label))]
  const traits = labels.map((label) => ({
    label,
    ownLines: linesOf(ownTraits, label),
    libraryLines: linesOf(libraryTraits, label),
  }))
  const differing = traits.filter((trait) => !isSame(trait))
  const same = traits.filter(isSame).map(({ label }) => label.toLowerCase())
  return {
    title: 'Differences',
    trail: [
      ['Questions', pathOf(ctx, 'questions')],
      [origin.name, pathOf(ctx, `questions/${origin.id}`)],
    ],
    body: panel(
      'difference',
      `This question and version ${origin.newest} in the library`,
      html`${
        differing.length === 0
          ? html`<p>Both are the same.</p>`
          : table(
              'difference-heading',
              ['Field', 'This question', `Version ${origin.newest} in the library`],
              differing.map(({ label, ownLines, libraryLines }) => [
                `${label}${UNCHANGED_SETTINGS.includes(label) ? ' (not replaced)' : ''}`,
                sideLines(ownLines, libraryLines),
                sideLines(libraryLines, ownLines),
              ]),
            )
      }
${same.length > 0 && html`<p class="hint mt-4">The same in both: ${same.join(', ')}.</p>`}
${origin.isChanged && html`<p class="mt-4">Using version ${origin.newest} discards this question’s own changes. This can’t be undone.</p>`}
<div class="mt-4 flex flex-wrap gap-2">${libraryButtons(path, origin)}<a class="btn btn-sm btn-ghost" href="${path}">Back to the question</a></div>`,
    ),
  }
}

/** Settings that stay when another version is applied. */
const UNCHANGED_SETTINGS = ['Points', 'Time limit', 'Preparation time']

const linesOf = (traits: DefinitionTrait[], wantedLabel: string): string[] =>
  traits.find(({ label }) => label === wantedLabel)?.lines ?? []

const isSame = ({ ownLines, libraryLines }: { ownLines: string[]; libraryLines: string[] }): boolean =>
  ownLines.join('\n') === libraryLines.join('\n')

function traitsOf({ input, definition }: LibraryContent): DefinitionTrait[] {
  const plain: [string, string][] = [
    ['Question format', labelOf(FORMAT_LABELS, input.inputType)],
    ['Text format', input.scriptFormat === 'markdown' ? 'Formatted' : 'Plain text'],
    ['Audio', input.audioUrl],
    ['Video', input.videoUrl],
    ['Points', formatCount(input.points, 'point')],
    ['Time limit', input.timeLimit > 0 ? formatDuration(input.timeLimit) : ''],
    ['Preparation time', input.preparationTime > 0 ? formatDuration(input.preparationTime) : ''],
    ['Recording', input.simultaneous ? 'While the prompt plays' : ''],
    ['Language of the question', input.sourceLanguage && labelLanguageWithCode(input.sourceLanguage)],
    ['Language of the answer', input.targetLanguage && labelLanguageWithCode(input.targetLanguage)],
  ]
  const rubric = input.rubric ? [{ label: 'Rubric', lines: linesOfRubric(input.rubric) }] : []
  const answerTraits = definition
    ? outlineDefinition(definition)
    : [{ label: 'Answer format', lines: [labelKind(input.responseType)] }]
  const text = { label: 'Text', lines: input.script.split('\n').filter((line) => line.trim() !== '') }
  const [kind, ...more] = answerTraits
  return [
    kind!,
    text,
    ...more,
    ...rubric,
    ...plain.filter(([, words]) => words).map(([label, words]) => ({ label, lines: [words] })),
  ]
}

/** Lines of one side. Lines that the other side lacks are bold. */
function sideLines(lines: string[], other: string[]): Html {
  if (lines.length === 0) return html`<span class="quiet">none</span>`
  const items = lines.map((line) =>
    other.includes(line)
      ? html`<li dir="auto">${line}</li>`
      : html`<li dir="auto"><strong>${line}</strong>${lines.length > 1 && html` <span class="quiet text-sm">only here</span>`}</li>`,
  )
  return html`<ul class="space-y-1">${items}</ul>`
}
