import type { BrowserTexts } from '../../../../locales/texts.ts'
import type { Devices } from '../devices/devices.ts'
import type { Notes } from './notes.ts'
import type { Outbox } from './outbox.ts'
import type { Session, SessionState } from './session.ts'
import type { Status } from './status.ts'

/** State that lasts as long as the document, across pages. */
export type Player = {
  t: BrowserTexts
  session: Session
  outbox: Outbox
  devices: Devices
  notes: Notes
  status: Status
  /** The state last read from the service. */
  state: SessionState
  /** Reloads the page's content. */
  refresh: () => Promise<void>
}

/** Handlers of the shown page. */
export type PageControl = {
  /** Called before a form is sent. @returns false to cancel. */
  beforeSending: (form: HTMLFormElement, submitter: HTMLElement | null) => Promise<boolean>
  /** Called before the page is reloaded. @returns false to cancel. */
  beforeReload?: () => Promise<boolean>
  /** True while an answer is being recorded or sent. */
  isRecording?: () => boolean
  /** True if leaving the page would lose something. */
  hasUnsaved?: () => boolean
  connectionChanged?: () => void
  close: () => void
}
