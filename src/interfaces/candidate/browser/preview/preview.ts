import type { AnswerAttemptKind, PossibleAnswer, Question, Sending, Session, SessionState } from '../session/session.ts'
import { tryAnswer } from './try-answer.ts'

export { followEditor } from './follow-editor.ts'

type Take = Question['takes'][number]

const NEW_ANSWER = { milliseconds: null, isReady: false, wasInterrupted: false, restarted: false, counts: true }

/**
 * The session of a preview: the page answers itself, so that nothing that is done in it is kept anywhere. What stands is what the
 * page says; what was typed and recorded is known as long as its question is shown.
 */
export function openPreview(base: string, newId: () => string): Session {
  let shown: HTMLElement | null = null
  let played = 0
  let takes: Take[] = []
  let answers: PossibleAnswer[] = []

  const { momentOf, now } = readClock()

  function readQuestion(): Question | null {
    const section = document.querySelector<HTMLElement>('[data-question]')
    const { number, of, closesAt, playsLeft, takesLeft } = section?.dataset ?? {}
    if (section !== shown) [shown, played, takes, answers] = [section, 0, [], []]
    if (!section || (closesAt && momentOf(closesAt) <= performance.now())) return null
    return {
      number: Number(number),
      of: Number(of),
      closesAt: closesAt ?? null,
      playsLeft: Math.max(0, Number(playsLeft) - played),
      takesLeft: Math.max(0, Number(takesLeft) - takes.length),
      text: null,
      takes,
      answers,
      interrupted: null,
      mayStartOver: true,
      hadInterruption: false,
    }
  }

  function read(): SessionState {
    const taking = document.querySelector<HTMLElement>('[data-taking]')
    return {
      state: taking ? 'in_progress' : 'preparing',
      now: now(),
      deadlineAt: taking?.dataset.deadlineAt ?? null,
      isDeadlineOfQuestion: false,
      needs: { microphone: false, camera: false, screen: false, idPhoto: false, facePhoto: false },
      checks: { passed: [], waived: [] },
      photos: { id_photo: true, face_photo: true },
      webcam: 'stills',
      question: readQuestion(),
      uploads: [],
    }
  }

  function begin(kind: AnswerAttemptKind) {
    const mediaId = newId()
    takes = [...takes, { id: mediaId, mediaId, kind, state: 'recording' }]
    return { mediaId, takesLeft: readQuestion()?.takesLeft ?? 0 }
  }

  function count(id: string): void {
    answers = answers.map((answer) => ({ ...answer, counts: answer.id === id }))
  }

  function add(answer: Pick<PossibleAnswer, 'id' | 'mediaId' | 'kind'>): void {
    const others = answers.filter(({ id }) => id !== answer.id)
    answers = [...others, { ...answer, ...NEW_ANSWER }]
    count(answer.id)
  }

  function complete(mediaId: string): void {
    const take = takes.find((one) => one.mediaId === mediaId)
    takes = takes.map((one) => (one === take ? { ...one, state: 'complete' } : one))
    if (take) add({ id: mediaId, mediaId, kind: take.kind })
  }

  async function send(_method: string, path: string, { json }: Sending = {}): Promise<unknown> {
    const said = (json ?? {}) as { kind?: AnswerAttemptKind; take?: string; text?: string; revision?: number; segment?: number }
    const [, , id = '', action] = path.split('/')
    if (path === '') return read()
    if (action === 'plays') return { playsLeft: Math.max(0, Number(shown?.dataset.playsLeft) - ++played) }
    if (action === 'takes') return begin(said.kind!)
    if (action === 'complete') complete(id)
    if (action === 'choice') count(said.take!)
    if (action === 'text') {
      add({ id: 'text', mediaId: null, kind: 'text' })
      tryAnswer(said.text ?? '')
    }
    return { saved: said.revision, segment: said.segment }
  }

  return {
    base,
    send,
    post: (path, json) => send('POST', path, json ? { json } : {}),
    claim: async () => ({}),
    read: async () => read(),
    momentOf,
    noteReached: () => {},
    isReachable: () => true,
    isTakenOver: () => false,
  }
}

/** The service's time, as of when the page that is shown came. */
function readClock() {
  /** What to add to `performance.now()` to have it. */
  let ahead = 0
  let timed: HTMLElement | null = null

  function keepTime(): void {
    const taking = document.querySelector<HTMLElement>('[data-taking]')
    if (!taking || taking === timed) return
    timed = taking
    ahead = Date.parse(taking.dataset.now!) - performance.now()
  }

  return {
    momentOf(time: string): number {
      keepTime()
      return Date.parse(time) - ahead
    },
    now: (): string => new Date(performance.now() + ahead).toISOString(),
  }
}
