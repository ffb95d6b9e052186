import type { AnswerAttemptKind, PossibleAnswer, Question, RequestOptions, Session, SessionState } from '../session/session.ts'
import { tryAnswer } from './try-answer.ts'

export { followEditor } from './follow-editor.ts'

type Attempt = Question['attempts'][number]

type RequestBody = { kind?: AnswerAttemptKind; attempt?: string; text?: string; revision?: number; segment?: number }

const NEW_ANSWER = { milliseconds: null, isReady: false, wasInterrupted: false, restarted: false, counts: true }

const READY = {
  isDeadlineOfQuestion: false,
  needs: { microphone: false, camera: false, screen: false, idPhoto: false, facePhoto: false },
  checks: { passed: [], waived: [] },
  photos: { id_photo: true, face_photo: true },
  webcam: 'stills',
  uploads: [],
} satisfies Partial<SessionState>

/**
 * A session for previews, answered inside the page: nothing is sent or stored. Its state is read from the page, and typed and recorded
 * answers last as long as their question is shown.
 */
export function openPreview(base: string, newId: () => string): Session {
  let shownSection: HTMLElement | null = null
  let playCount = 0
  let attempts: Attempt[] = []
  let answers: PossibleAnswer[] = []

  const { momentOf, now } = readClock()

  function readQuestion(): Question | null {
    const section = document.querySelector<HTMLElement>('[data-question]')
    const { number, of: questionCount, answersAt, closesAt, playsLeft, attemptsLeft } = section?.dataset ?? {}
    if (section !== shownSection) [shownSection, playCount, attempts, answers] = [section, 0, [], []]
    if (!section || (closesAt && momentOf(closesAt) <= performance.now())) return null
    return {
      number: Number(number),
      of: Number(questionCount),
      answersAt: answersAt && momentOf(answersAt) > performance.now() ? answersAt : null,
      closesAt: closesAt ?? null,
      playsLeft: Math.max(0, Number(playsLeft) - playCount),
      attemptsLeft: Math.max(0, Number(attemptsLeft) - attempts.length),
      text: null,
      attempts,
      answers,
      interrupted: null,
      mayStartOver: true,
      hadInterruption: false,
    }
  }

  function read(): SessionState {
    const taking = document.querySelector<HTMLElement>('[data-taking]')
    return {
      ...READY,
      state: taking ? 'in_progress' : 'preparing',
      now: now(),
      deadlineAt: taking?.dataset.deadlineAt ?? null,
      question: readQuestion(),
    }
  }

  function begin(kind: AnswerAttemptKind) {
    const mediaId = newId()
    attempts = [...attempts, { id: mediaId, mediaId, kind, state: 'recording' }]
    return { mediaId, attemptsLeft: readQuestion()?.attemptsLeft ?? 0 }
  }

  function count(id: string): void {
    answers = answers.map((answer) => ({ ...answer, counts: answer.id === id }))
  }

  function add(answer: Pick<PossibleAnswer, 'id' | 'mediaId' | 'kind'>): void {
    const otherAnswers = answers.filter(({ id }) => id !== answer.id)
    answers = [...otherAnswers, { ...answer, ...NEW_ANSWER }]
    count(answer.id)
  }

  function complete(mediaId: string): void {
    const attempt = attempts.find((item) => item.mediaId === mediaId)
    attempts = attempts.map((item) => (item === attempt ? { ...item, state: 'complete' } : item))
    if (attempt) add({ id: mediaId, mediaId, kind: attempt.kind })
  }

  async function send(_method: string, path: string, { json }: RequestOptions = {}): Promise<unknown> {
    const body = (json ?? {}) as RequestBody
    const [, , id = '', action] = path.split('/')
    if (path === '') return read()
    if (action === 'plays') return { playsLeft: Math.max(0, Number(shownSection?.dataset.playsLeft) - ++playCount) }
    if (action === 'attempts') return begin(body.kind!)
    if (action === 'complete') complete(id)
    if (action === 'choice') count(body.attempt!)
    if (action === 'text') {
      add({ id: 'text', mediaId: null, kind: 'text' })
      tryAnswer(body.text ?? '')
    }
    return { saved: body.revision, segment: body.segment }
  }

  return {
    base,
    send,
    post(path, json) {
      // The form of "Answer now" is sent instead, because a preview's state is in its address.
      if (path.endsWith('/answering')) return Promise.reject(new Error('No service'))
      return send('POST', path, json ? { json } : {})
    },
    claim: async () => ({}),
    read: async () => read(),
    momentOf,
    setReachable: () => {},
    isReachable: () => true,
    isTakenOver: () => false,
  }
}

/** The service's clock, set by the time in the shown page. */
function readClock() {
  /** Milliseconds to add to `performance.now()` for the service's time. */
  let clockOffset = 0
  let timed: HTMLElement | null = null

  function updateOffset(): void {
    const taking = document.querySelector<HTMLElement>('[data-taking]')
    if (!taking || taking === timed) return
    timed = taking
    clockOffset = Date.parse(taking.dataset.now!) - performance.now()
  }

  return {
    momentOf(time: string): number {
      updateOffset()
      return Date.parse(time) - clockOffset
    },
    now: (): string => new Date(performance.now() + clockOffset).toISOString(),
  }
}
