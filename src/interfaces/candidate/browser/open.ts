// Script of an open link's form: solves a proof of work while the visitor types, and shows times in their time zone. If it fails, the form
// is sent without a proof, and the email takes longer.

import { type Challenge, solveChallengeWorkers } from 'altcha-lib'
import { localizeTimes } from './pages/localize-times.ts'
import { fillZone } from './pages/zone.ts'

/** A solution is good for ten minutes. */
const FRESH_MS = 540_000
/** Milliseconds after which the form is sent without a proof. */
const PATIENCE_MS = 20_000
const MAX_WORKERS = 4

localizeTimes()
fillZone()
const form = document.querySelector<HTMLFormElement>('form[data-challenge]')
if (form) prove(form)

function prove(form: HTMLFormElement): void {
  const { challenge = '', worker = '', checking = '' } = form.dataset
  const button = form.querySelector<HTMLButtonElement>('button:not([type=button])')!
  const label = button.innerHTML
  let solving: { begun: number; solution: Promise<string> } | undefined
  const solve = (): Promise<string> => {
    if (!solving || performance.now() - solving.begun > FRESH_MS)
      solving = { begun: performance.now(), solution: solveChallenge(challenge, worker).catch(() => '') }
    return solving.solution
  }
  form.addEventListener('input', () => void solve(), { once: true })
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    if (button.disabled) return
    button.disabled = true
    button.textContent = checking
    const patience = new Promise<string>((resolve) => setTimeout(resolve, PATIENCE_MS, ''))
    const field = form.querySelector<HTMLInputElement>('input[name=solution]')!
    field.value = await Promise.race([solve(), patience])
    form.submit()
  })
  // Restored from the browser's cache: a solution can be used only once.
  addEventListener('pageshow', () => {
    solving = undefined
    button.disabled = false
    button.innerHTML = label
  })
}

async function solveChallenge(address: string, worker: string): Promise<string> {
  const answer = await fetch(address)
  const challenge = (await answer.json()) as Challenge
  const concurrency = Math.min(MAX_WORKERS, navigator.hardwareConcurrency || 1)
  const solution = await solveChallengeWorkers({ challenge, concurrency, createWorker: () => new Worker(worker) })
  return solution ? JSON.stringify({ challenge, solution }) : ''
}
