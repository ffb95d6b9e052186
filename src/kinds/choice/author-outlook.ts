import { type Html, html } from '../../html/html.ts'
import type { Read } from '../author.ts'
import { foresee } from './outlook.ts'
import { choice } from './rules.ts'
import type { Key, Spec } from './schema.ts'

/** Score of guessing, or a placeholder while the question is incomplete. */
export function outlookOf(word: string, { spec, key, faults }: Read): Html {
  const isComplete = faults.length === 0 && choice.faults(word, spec, key).length === 0
  return html`<p class="hint mb-3" role="status" data-outlook>${isComplete ? wordOutlook(word, spec as Spec, key as Key) : 'The score of guessing is shown once you have marked the right answers.'}</p>`
}

function wordOutlook(word: string, { options, least = 0, most = options.length }: Spec, key: Key): string {
  const ids = options.map(({ id }) => id)
  if (word === 'single_choice') return `Guessing gets ${percent(foresee(ids, key, { least: 1, most: 1 }).guessing)} on average.`
  const { all, none, guessing } = foresee(ids, key, { least, most })
  const ticking = all === null ? '' : `Ticking all gets ${percent(all)}, `
  return `${ticking}${ticking ? 'none' : 'Ticking none gets'} ${percent(none)}, and guessing ${percent(guessing)} on average.`
}

const percent = (share: number): string => `${Math.round(share * 100)} %`
