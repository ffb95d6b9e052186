// Limits of all inputs, for all interfaces, the importer, and the command line. Lengths are in characters (code points). The import format
// doesn't limit lists, or texts without an index. Imported values may stay as they are, see issuesOfChangedFields in checks.ts.

/** Number of times that an invite's mail may be sent again, or in a new link. */
export const MAX_RESENDS = 10

/** Tests of texts that a person may mail themselves within an hour. */
export const MAX_TEXT_TESTS = 5

/** The largest integer: what PostgreSQL's `integer` holds. */
export const MAX_INTEGER = 2_147_483_647

/** Names and codes are indexed, and PostgreSQL's index entries are limited: at four bytes a character this is a third of it. */
export const MAX_NAME_LENGTH = 200
export const MAX_CODE_LENGTH = 35
export const MAX_EMAIL_LENGTH = 254
export const MAX_TAG_NAME_LENGTH = 100
export const MAX_TAG_DESCRIPTION_LENGTH = 1_000
export const MAX_MESSAGE_LENGTH = 5_000
/** Characters of an external id and of metadata. */
export const MAX_EXTERNAL_ID_LENGTH = 100
export const MAX_METADATA_KEYS = 20
export const MAX_METADATA_KEY_LENGTH = 50
export const MAX_METADATA_VALUE_LENGTH = 500
/** The text of a question, or of an instruction: encoded in a form it has to fit into a body. */
export const MAX_SCRIPT_LENGTH = 5_000
/** The address of a question's audio or video. */
/** Characters that begin or end formatting in a text. The cost of parsing grows with their square. */
export const MAX_MARKS = 1_000
export const MAX_URL_LENGTH = 2_000

/** Tags of one assessment; likewise its languages, categories, skills and clients. */
export const MAX_ASSESSMENT_ITEMS = 100
/** Amounts from 0, such as seconds and points. */
export const AMOUNTS = { minimum: 0, maximum: MAX_INTEGER }
/** Seconds to prepare the answer to one question; 0: none. */
export const PREPARATION_SECONDS = { minimum: 0, maximum: 3_600 }
export const MAX_SECTIONS = 20
export const MAX_POOLS = 50
/** A share of something. */
export const PERCENT = { minimum: 0, maximum: 100 }
/** Tags of one invite. */
export const MAX_INVITE_TAGS = 100
/** Tags, and grading languages, of one member. */
export const MAX_MEMBER_TAGS = 100
export const MAX_MEMBER_LANGUAGES = 100
/** Counts from 1, such as replays and recordings. */
export const COUNTS = { minimum: 1, maximum: MAX_INTEGER }
/** Days until an invite expires. */
export const EXPIRY_DAYS = { minimum: 1, maximum: 3_650 }
/** More time for a candidate, in percent of each limit. */
export const EXTRA_TIME_PERCENT = { minimum: 0, maximum: 300 }
export const DEFAULT_EXPIRES_IN_DAYS = 30

/** Limits of a list of candidates: its rows, its bytes, and the stored characters of a refused cell. */
export const MAX_BATCH_ROWS = 50_000
/** Invites that one bulk change takes. */
export const MAX_BULK_INVITES = 10_000
/** Rows that a system may give by one request, and bytes of it. */
export const MAX_ROWS_A_REQUEST = 1_000
export const MAX_ROWS_BYTES = 1024 * 1024
/** Unfinished erasures per organization. */
export const MAX_OPEN_ERASURES = 100
/** Unfinished batches by API keys per organization and mode. */
export const MAX_OPEN_BATCHES = 20
export const MAX_BATCH_BYTES = 16 * 1024 * 1024
export const MAX_KEPT_CELL_LENGTH = 300
/** Characters of a cell of a list that are looked at: more than the longest message, and than the names of all tags an invite can have. */
export const MAX_LIST_CELL_LENGTH = 20_000

/** Bytes of a file of questions, pictures in Base64 included. */
export const MAX_IMPORT_BYTES = 20 * 1024 * 1024
/** Bytes of a JSON body with such a file: Base64 takes four for three. */
export const MAX_IMPORT_BODY_BYTES = 28 * 1024 * 1024
/** Bytes of text that a file of questions may hold, as UTF-8. */
export const MAX_FILE_TEXT_BYTES = 10_000_000

/** Choices of an organization for its members' sign-in. */
export const IDLE_MINUTES = { minimum: 15, maximum: 720 }
export const SESSION_HOURS = { minimum: 1, maximum: 720 }
/** Hours for which a single sign-on opens an organization that requires it. */
export const SSO_SESSION_HOURS = { minimum: 1, maximum: 24 }
/** Days for which a browser may replace a second factor; 0: never. */
export const TRUSTED_DEVICE_DAYS = { minimum: 0, maximum: 90 }

/** Days for which an organization keeps its audit log: one year to seven. */
export const AUDIT_RETENTION_DAYS = { minimum: 365, maximum: 2557 }

/** Days for which an organization may keep invites that have ended. */
export const RETENTION_DAYS = { minimum: 30, maximum: 3_650 }

/** Days until an API key expires; unless limited it never does. */
export const KEY_DAYS = { minimum: 1, maximum: 36_500 }

/** Most networks that may use an organization's portal, all of its API keys, or one key. */
export const MAX_NETWORKS = 50

/** Requests a minute that a key's own limit can be; the organization's is a setting. */
export const KEY_REQUESTS = { minimum: 1, maximum: 1_000_000 }
/** Items of one page of a list. */
export const MAX_PAGE_SIZE = 100
export const DEFAULT_PAGE_SIZE = 20
/** Rows of a page of the portal's lists that a member can choose from; the first until they do. */
export const PAGE_SIZES = [25, 50, 100] as const

// Uploads of candidates.

export const MAX_ANSWER_LENGTH = 20_000
/** Highest revision of a text: more than any candidate saves. */
export const MAX_REVISION = 1_000_000_000
/** Most recorded events of one session, and of one request. */
export const MAX_SESSION_EVENTS = 2_000
export const MAX_NOTES_AT_ONCE = 100
/** Stored characters of a user agent. */
export const MAX_USER_AGENT_LENGTH = 500
/** Seconds after the end in which recordings are still accepted. */
export const UPLOAD_GRACE_SECONDS = 30
/** Bytes of one uploaded part: less than proxies allow. */
export const MAX_PART_BYTES = 900_000
/** Plays of the prompt of a simultaneous question. Each begins while nothing is recorded; several are needed if the page is reloaded then. */
export const MAX_SIMULTANEOUS_PLAYS = 20
/** After an interruption, a simultaneous question continues so much earlier in its prompt. */
export const SIMULTANEOUS_REWIND_MS = 5_000

/** Seconds for which recording continues after the prompt of a simultaneous question. */
export const SIMULTANEOUS_ENDING_SECONDS = 10

/** A browser sends a recording in slices of this length. */
export const SLICE_SECONDS = 2
/** A candidate may restart an interrupted recording once if less than this was saved. */
export const RESTART_BELOW_SECONDS = 10
/** Slices of a segment, and segments: more than a day, and more interruptions than anybody has. */
export const MAX_PARTS = 100_000
export const MAX_SEGMENTS = 1_000
/**
 * Size below which a part is small, because a disk block is larger, and most small parts of a recording: eleven hours of two seconds each.
 */
export const SMALL_PART_BYTES = 4_096
export const MAX_SMALL_PARTS = 20_000
/** Bytes of one recorded answer, and of a whole submission. */
export const MAX_ATTEMPT_BYTES = 200_000_000
export const MAX_SUBMISSION_BYTES = 1_000_000_000
export const MAX_PHOTO_BYTES = 3_000_000
/** Webcam pictures of a submission, and least seconds between two. */
export const MAX_STILLS = 1_000
export const STILLS_EVERY_SECONDS = 20

/** Recordings of the screen, and of the webcam, in one submission: each goes on until it is interrupted, or the page is loaded again. */
export const MAX_CAPTURES = 200
/** Photos of the ID, and of the face, that one submission has room for one after the other. */
export const MAX_PHOTOS = 200

/** Limits of files: files in an answer, uploads including removed files, bytes of a file, and characters of its name. */
export const MAX_FILES = 5
export const MAX_FILE_UPLOADS = 200
export const MAX_FILE_BYTES = 100_000_000
export const MAX_FILE_NAME_LENGTH = 200
/** Bytes of a part of a file: the two that are sent at a time fit into one try of 20 s over a line of 200 kbit/s. */
export const FILE_PART_BYTES = 250_000

// Media of questions.

/** Bytes of a picture, and pixels of each side. */
export const MAX_PICTURE_BYTES = 5_000_000
export const MAX_PICTURE_SIDE = 8_000
export const MAX_ALT_LENGTH = 300
/** Bytes of a logo, and pixels of each side. */
export const MAX_LOGO_BYTES = 200_000
export const MAX_LOGO = { width: 1_200, height: 600 }
export const MAX_PROMPT_BYTES = 100_000_000

// Texts of graders.

/** Characters of a comment on an answer or result, and of the message to the candidate. */
export const MAX_COMMENT_LENGTH = 5_000

// Limits of a list's filters. Words, values, and characters are compared with every row of the organization, so a caller's input must not
// decide their cost.

/** Distinct words of a search. */
export const MAX_SEARCH_WORDS = 8
/** Length of a text that is searched for: more than any address, and than the name of any assessment or tag. */
export const MAX_FILTER_LENGTH = 255
/** Distinct values of a filter that takes any of several. */
export const MAX_FILTER_VALUES = 100

// Patterns of texts, for regular expressions with the flag `u`.

/** #RRGGBB. */
export const HEX_COLOR_PATTERN = '^#[0-9a-fA-F]{6}$'
export const METADATA_KEY_PATTERN = `^[A-Za-z0-9_.-]{1,${MAX_METADATA_KEY_LENGTH}}$`
/** Text that PostgreSQL and a mail can hold: no NUL, no half of a surrogate pair. */
export const TEXT_PATTERN = '^[^\\u0000\\uD800-\\uDFFF]*$'
/** Text with more than white space that PostgreSQL and emails can hold. */
export const NON_BLANK_TEXT_PATTERN = '^\\s*[^\\s\\u0000\\uD800-\\uDFFF][^\\u0000\\uD800-\\uDFFF]*$'

/** True if so little of an interrupted recording is saved that it may be started over. */
export const mayRestart = (slices: number): boolean => slices * SLICE_SECONDS < RESTART_BELOW_SECONDS
