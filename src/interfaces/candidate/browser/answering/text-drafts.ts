import { createDraftStore } from '../../../../http/browser/draft-store.ts'
import type { Player } from '../session/player.ts'
import { Refusal } from '../session/session.ts'
import { type Draft, readDraft, toRequest } from './text.ts'

// Unsaved texts in this browser, by session and question.

type Drafts = ReturnType<typeof openTextDrafts>

const prefixOf = (base: string) => `draft ${base} `

export const openTextDrafts = (base: string, number: number) => createDraftStore<Draft>(`${prefixOf(base)}${number}`)

/** Shows the text that could not be saved until the candidate has read it, also after a reload. */
export const showLostText = ({ t, status }: Pick<Player, 't' | 'status'>, number: number, text: string, drafts: Drafts): void =>
  status.tell(`text ${number}`, t.text('text.lost', { number }), {
    details: [t.text('text.lost.heading'), text],
    onSeen: () => drafts.clear(),
  })

/** Sends drafts of earlier pages for questions that are closed now. Shows rejected ones. */
export async function sendUnsentTexts({ t, session, status, state }: Player): Promise<void> {
  for (const number of listLeft(session.base)) {
    if (number === state.question?.number) continue
    const drafts = openTextDrafts(session.base, number)
    const draft = drafts.read()
    if (!draft) continue
    await session.send('PUT', `/questions/${number}/text`, { json: toRequest(readDraft(draft)) }).then(
      () => drafts.clear(),
      (error) => {
        if (!(error instanceof Refusal && error.code === 'taken_over')) showLostText({ t, status }, number, draft.text, drafts)
      },
    )
  }
}

/** The numbers of their questions. */
function listLeft(base: string): number[] {
  try {
    const keys = Object.keys(localStorage).filter((key) => key.startsWith(prefixOf(base)))
    return keys.map((key) => Number(key.slice(prefixOf(base).length))).sort((a, b) => a - b)
  } catch {
    return [] // refused, as in some private windows: nothing was kept
  }
}
