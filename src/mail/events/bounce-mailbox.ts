import type { FetchMessageObject, ImapFlow, ImapFlowError } from 'imapflow'
import { withoutAddresses } from '../../domain/mails/mail-outage.ts'
import type { Log } from '../../domain/ports/log-events.ts'

export type ImapAddress = {
  host: string
  port: number | undefined
  /** True for TLS from the start; otherwise STARTTLS is required before the login. */
  isSecure: boolean
  user: string
  password: string
  folder: string
  tls: { servername?: string; rejectUnauthorized?: boolean }
}

/** Processes the start of a mail. @returns true if it was processed; other mails stay unread. */
export type MailHandler = (start: Buffer) => Promise<boolean>

export type BounceMailbox = {
  /**
   * Processes unread mails and flags processed ones as read. Other mails, and mails that can't be fetched, are skipped from then on: they get a
   * keyword, or, if the server supports none, each process remembers them.
   *
   * @param isSessionOver true to leave the remaining mails for the next run.
   * @returns the number of processed mails.
   * @throws Error if the server fails; errors of `take`.
   */
  processUnread: (take: MailHandler, isOver: () => boolean) => Promise<number>
  /** Aborts all connections. */
  close: () => void
}

/** Bytes read per mail. A bounce's report precedes the copy of the original mail. */
const MAX_BYTES = 256 * 1024
/** Mails fetched per request. */
const BATCH_SIZE = 20
const TIMEOUTS = { connectionTimeout: 30_000, greetingTimeout: 30_000, socketTimeout: 60_000 }

/** Opens only the folder of bounces to this domain. */
export function createBounceMailbox(address: ImapAddress, { domain, log }: { domain: string; log: Log }): BounceMailbox {
  const openClients = new Set<ImapFlow>()
  const flags = { processed: '\\Seen', foreign: `NotOf-${domain}` }
  /** Last UID that was processed. A recreated folder has a new uidValidity, and its UIDs start again at 1. */
  let lastProcessed = { uidValidity: 0n, uid: 0 }
  const use = <T>(work: (client: ImapFlow) => Promise<T>) => useClient(address, openClients, work)
  const skipFailed = (failed: number[], uids: number[], error: unknown) => {
    if (uids.length > 1 && failed.length === uids.length) throw error // the server is at fault, not the mails
    for (const uid of failed) log.warn({ uid }, 'a mail in the bounce mailbox cannot be fetched: skipping it')
    lastProcessed.uid = uids.at(-1)!
  }

  async function processUnread(take: MailHandler, isOver: () => boolean): Promise<number> {
    let processed = 0
    /** UIDs being fetched. */
    let fetching: number[] = []
    let handlerError: unknown
    const handle: MailHandler = (start) =>
      take(start).catch((error) => {
        handlerError = error
        throw error
      })
    const processBatch = async (client: ImapFlow, uids: number[]) => {
      fetching = uids
      const mails = await client.fetchAll(uids, { uid: true, source: { maxLength: MAX_BYTES } }, { uid: true })
      fetching = []
      processed += await processMails(client, mails, handle, flags)
    }
    const processUnreadMails = async (client: ImapFlow) => {
      const { uidValidity } = client.mailbox as { uidValidity: bigint }
      if (lastProcessed.uidValidity !== uidValidity) lastProcessed = { uidValidity, uid: 0 }
      const unread = await findUnread(client, { after: lastProcessed.uid, without: flags.foreign })
      for (let i = 0; i < unread.length && !isOver(); i += BATCH_SIZE) {
        const uids = unread.slice(i, i + BATCH_SIZE)
        await processBatch(client, uids)
        lastProcessed.uid = uids.at(-1)!
      }
    }
    /** Fetches each mail over its own connection, since a single bad mail may end a connection. @returns UIDs that can't be fetched. */
    const processEach = async (uids: number[]) => {
      const failed: number[] = []
      for (const uid of uids)
        await use((client) => processBatch(client, [uid])).catch((error) => {
          if (fetching.length === 0) throw error
          fetching = []
          failed.push(uid)
        })
      return failed
    }
    const processAll = async (): Promise<void> => {
      try {
        await use(processUnreadMails)
      } catch (error) {
        const uids = fetching
        fetching = []
        if (uids.length === 0) throw error
        skipFailed(await processEach(uids), uids, error)
        await processAll()
      }
    }
    await processAll().catch((error) => {
      throw handlerError ?? error
    })
    return processed
  }
  return {
    processUnread,
    close: () => {
      for (const client of openClients) client.close()
    },
  }
}

/** Logs in and opens the folder. @returns the number of unread mails. @throws Error. */
export const countUnread = (address: ImapAddress): Promise<number> =>
  useClient(address, new Set(), async (client) => (await findUnread(client, { after: 0 })).length)

/** `n:*` always includes the last mail, however low its UID, so the result is filtered. */
async function findUnread(client: ImapFlow, { after, without }: { after: number; without?: string }): Promise<number[]> {
  const mark = without !== undefined && { unKeyword: without }
  const found = await client.search({ seen: false, ...mark, uid: `${after + 1}:*` }, { uid: true })
  if (!found) throw Object.assign(new Error('The server does not say which mails are unread'), { code: 'NoSearch' })
  return found.filter((uid) => uid > after).sort((one, other) => one - other)
}

type Flags = { processed: string; foreign: string }

/** Marks mails after they were stored. After a crash in between they are fetched again and recognized. @returns the number of processed mails. */
async function processMails(client: ImapFlow, mails: FetchMessageObject[], take: MailHandler, flags: Flags): Promise<number> {
  const [processed, foreign]: [number[], number[]] = [[], []]
  for (const { uid, source } of mails) if (source) ((await take(source)) ? processed : foreign).push(uid)
  const mark = (uids: number[], flag: string) => uids.length === 0 || client.messageFlagsAdd(uids, [flag], { uid: true })
  if (!(await mark(processed, flags.processed)))
    throw Object.assign(new Error('What was read can not be marked as read'), { code: 'ReadOnly' })
  await mark(foreign, flags.foreign) // without keywords on the server, lastProcessed remembers them until the process ends
  return processed.length
}

async function useClient<T>(
  address: ImapAddress,
  openClients: Set<ImapFlow>,
  work: (client: ImapFlow) => Promise<T>,
): Promise<T> {
  const { host, port, isSecure, user, password, folder, tls } = address
  const { ImapFlow } = await import('imapflow') // few installations need it
  const client = new ImapFlow({
    ...{ host, secure: isSecure, tls, ...TIMEOUTS, auth: { user, pass: password } },
    ...{ logger: false, disableAutoIdle: true, maxLiteralSize: 2 * MAX_BYTES },
    ...(port !== undefined && { port }),
    ...(!isSecure && { doSTARTTLS: true }),
  })
  client.on('error', () => {}) // the pending command rejects with it
  openClients.add(client)
  try {
    await client.connect()
    await client.mailboxOpen(folder)
    const result = await work(client)
    await client.logout()
    return result
  } catch (error) {
    throw new Error(describe(error as ImapFlowError, password))
  } finally {
    client.close()
    openClients.delete(client)
  }
}

/** Describes the error in the server's words. The error itself contains the commands, with the password. */
function describe(
  { message, responseText, response, code, errors }: ImapFlowError & { errors?: Error[] },
  password: string,
): string {
  const serverText = responseText ?? (typeof response === 'string' ? response : undefined)
  const words = [message || errors?.[0]?.message || code, serverText && serverText !== message ? serverText : undefined].filter(
    Boolean,
  )
  return withoutAddresses(words.join(': ')).replaceAll(password, '…')
}
