import type { PageControl, Player } from '../session/player.ts'
import { prepareAnswer } from './prepare-answer.ts'
import { offerPrompt } from './prompt.ts'
import { answerQuestion } from './question.ts'

/** An open question: its prompt plays, also while the candidate prepares, and it is answered. */
export function openQuestion(player: Player, section: HTMLElement): PageControl {
  const prompt = section.querySelector<HTMLElement>('[data-prompt]')
  const stopPrompt = prompt ? offerPrompt(player, Number(section.dataset.number), prompt) : () => {}
  const answer = () => answerQuestion(player, section)
  const isPreparing = section.querySelector('[data-preparation]') !== null
  let control = isPreparing ? prepareAnswer(player, section, beginAnswering) : answer()

  function beginAnswering(): void {
    control.close()
    control = answer()
  }

  return {
    beforeSending: (form, submitter) => control.beforeSending(form, submitter),
    beforeReload: async () => control.beforeReload?.() ?? true,
    isRecording: () => control.isRecording?.() ?? false,
    hasUnsaved: () => control.hasUnsaved?.() ?? false,
    connectionChanged: () => control.connectionChanged?.(),
    close() {
      control.close()
      stopPrompt()
    },
  }
}
