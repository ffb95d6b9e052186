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
  /** As it was read last. */
  state: SessionState
  /** Reloads the page's content. */
  refresh: () => Promise<void>
}

/** Handlers of the page that is shown. */
export type PageControl = {
  /** Before one of its forms is sent. @returns false when it is not to be sent. */
  beforeSending: (form: HTMLFormElement, submitter: HTMLElement | null) => Promise<boolean>
  /** Before the page is loaded again. @returns false when it is not to be. */
  beforeReload?: () => Promise<boolean>
  /** True while an answer is being recorded or sent. */
  isRecording?: () => boolean
  /** True if leaving the page would lose something. */
  hasUnsaved?: () => boolean
  connectionChanged?: () => void
  close: () => void
}
