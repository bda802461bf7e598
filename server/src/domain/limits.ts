// Every bound of the service that isn't a setting, by name, except those of fields (shown/field-limits.ts). Bytes are
// UTF-8 bytes of the text as sent.

export const bodyBytesMax = 4 * 1024 * 1024;
/**
 * Of a message to /mcp, which is checked, read and read again by a library, on the one thread that answers everybody:
 * 4 MiB of it would hold up all other calls for more than a second. Models write no more than this.
 */
export const mcpMessageBytesMax = 1024 * 1024;
/** A tool's answer: a payload that came in a message, and its edit by a person, with room to spare. */
export const mcpAnswerBytesMax = 4 * mcpMessageBytesMax;
/** Larger bodies are read only for a key or link that the database knows, and only while there is room for them. */
export const smallBodyBytesMax = 32 * 1024;
/** For calls that carry at most a code. */
export const tinyBodyBytesMax = 16 * 1024;
/** For the dashboard's forms; a browser's passkey answer is longer. */
export const formBytesMax = 32 * 1024;
export const passkeyFormBytesMax = 256 * 1024;
/**
 * Large bodies that one process reads or works on, in bytes, and the share of one workspace. A body of 4 MiB costs about
 * six times as much memory on its way, so this many take 400 MB at most.
 */
export const bodiesBytesMax = 64 * 1024 * 1024;
export const bodiesBytesPerHolderMax = 16 * 1024 * 1024;
export const bodiesWaitingMax = 512;
export const bodiesWaitingPerHolderMax = 64;
/** A body that waits longer for room is refused, and may be sent again. */
export const bodyWaitMs = 20_000;
/** Larger answers are counted until they have left for their readers: in one process, and for one workspace. */
export const largeAnswerBytesMin = 128 * 1024;
export const answersBytesMax = 256 * 1024 * 1024;
export const answersBytesPerHolderMax = 32 * 1024 * 1024;
/** A reader that takes nothing of a large answer for one to two such periods is cut off. */
export const answerStallDefaultMs = 10_000;
/** A connection whose request could not be parsed is closed after this, even if its caller stays. */
export const brokenConnectionLingerMs = 5_000;

/** A review with more JSON than this is shown and decided in turn, one at a time. */
export const largeReviewBytesMin = 128 * 1024;
export const largeReviewsAtOnceMax = 1;
export const largeReviewsWaitingMax = 1_000;
/** All members of a group may open their links at the same moment. */
export const largeReviewsPerWorkspaceMax = 200;
export const largeReviewsPerLinkMax = 8;
/** Reads of many or of large approvals that one process carries out at a time, and of them one caller. */
export const heavyReadsAtOnceMax = 4;
export const heavyReadsPerHolderMax = 2;
export const heavyReadsWaitingMax = 20_000;
export const heavyReadsWaitingPerHolderMax = 200;
/** A call that waits longer than this for its turn is refused. */
export const turnWaitMs = 15_000;
/** Calls of one connection that are under way at a time. Clients that send many without reading the answers get no more. */
export const callsPerConnectionMax = 16;

export const waitSecondsMax = 60;
export const waitersMax = 20_000;
/** Callers of one workspace that wait for decisions, in one process. One more is answered at once. */
export const waitersPerWorkspaceMax = 5_000;
export const listLimitMax = 100;
export const listLimitDefault = 20;

/** A page of a list ends early rather than answer more than this; at least one row is always answered. */
export const listBytesMax = 8 * 1024 * 1024;

/** Creates with a larger body, and reads of larger rows, travel alone, so that they delay no neighbour. */
export const gatheredCreateBytesMax = 32 * 1024;
export const gatheredReadBytesMax = 512 * 1024;
export const gatheredItemsMax = 64;
export const gatheredBatchesInFlightMax = 2;
export const gatheredWaitingMax = 10_000;
/** The most calls of one holder in the queue. A holder is a workspace, or a network if the workspace isn't known. */
export const gatheredWaitingPerHolderMax = 2_500;
/** A call that has waited longer than this is refused instead of run. */
export const gatheredWaitMs = 15_000;
/** Large statements at a time, and how many of them may be one holder's. */
export const largeStatementsMax = 3;
export const largeStatementsPerHolderMax = 2;
/** Large creates of one workspace that wait for their turn: each keeps its body in memory. */
export const largeWaitingPerHolderMax = 64;

/** The share of the pool's connections that one holder may use, and the share that only others may use then. */
export const connectionsPerHolderShare = 0.5;
export const connectionsKeptFreeShare = 0.2;
export const connectionWaitersPerHolderMax = 1_000;
/** Credentials whose workspace a process remembers, to give each workspace its turn. */
export const holdersRememberedMax = 50_000;

export const groupMembersMax = 100;
export const webhookUrlCharactersMax = 2_000;
export const webhookSecretOverlapHours = 24;
/** The most live secrets of an endpoint. */
export const webhookSecretsMax = 3;

export const webhookAttemptsMax = 3;
/** A longer Retry-After counts as this. */
export const retryAfterSecondsMax = 3_600;
/** Waits are spread by this share to either side. */
export const retryJitter = 0.2;
/**
 * The waits before a delivery is retried after a crash, by the number of crashes in a row. The last one holds for all
 * further crashes: a delivery that takes its worker down each time does so about four times an hour.
 */
export const crashDelaysSeconds = [0, 30, 60, 120, 240, 480, 900];
/** A delivery fails after this many crashes in a row: about five days. */
export const crashesInRowMax = 500;
/** An endpoint that only fails for this long is disabled. */
export const endpointFailingDaysMax = 5;
/**
 * Owners are mailed when the first delivery to an endpoint is given up, and again once it has worked and failed anew, but
 * not more often than this: one that works now and then must not fill their mailboxes.
 */
export const endpointNoticePauseMinutes = 60;
/** Waiting deliveries are counted up to here in that mail. */
export const noticedCountMax = 1_000;

/** Longer than any attempt may take, so that only a process that is gone or stuck loses its work to another. */
export const leaseSeconds = 30;
/** The most webhooks that one process sends at a time, and the share of one workspace and one endpoint. */
export const webhooksInFlightMax = 512;
export const webhooksPerWorkspaceMax = 256;
/** The last slots of a process go only to workspaces with no more than this share under way. */
export const webhooksKeptFree = 128;
export const webhooksLightShare = 16;
export const webhooksPerEndpointMax = 32;
/** Endpoints faster than this may hold more claimed deliveries than are in flight. */
export const quickAnswerMs = 25;
export const webhooksPerQuickEndpointMax = 128;
/** The most ends recorded at once. Batches follow each other: nobody waits for them, and few large ones cost less. */
export const endedAttemptsMax = 128;
/** The most rows one claim reads, divided among the endpoints with webhooks due. */
export const claimWindowMax = 512;
export const endpointsRememberedMax = 1_000;
/** An endpoint whose last attempt failed gets less until one succeeds, so a hanging one costs us next to nothing. */
export const webhooksPerFailingEndpointMax = 2;
/** The most callbacks that one process sends at a time, and the share of one workspace in it. */
export const callbacksInFlightMax = 256;
export const callbacksPerWorkspaceMax = 64;
export const callbacksKeptFree = 64;
export const callbacksLightShare = 16;
/** The most callbacks of one workspace to one host, from all processes together. */
export const callbacksPerHostMax = 8;
/** The hosts that one claim looks at, divided among the workspaces with callbacks due. The next one continues behind. */
export const callbackLanesMax = 256;
/** The most hosts a day of which a workspace's owners are told that callbacks to them are given up, each once a day. */
export const callbackNoticesPerDayMax = 5;
/** As many mails under way as connections to the mail server, so that none waits for one. */
export const mailsInFlightMax = 6;
export const mailsPerWorkspaceMax = 4;

/**
 * Mails that ask one person for decisions, in one workspace: this many leave at once, and each uses up one interval.
 * After a burst one mail leaves per interval: a digest of the requests held since the last one.
 */
export const reviewMailBurstMax = 5;
export const reviewMailIntervalSeconds = 120;
/** A mail is held for at most this share of the time that its request has left. */
export const heldTimeShareMax = 0.1;
/** One digest lists this many requests at most. More leave in further digests, at once. */
export const digestRequestsMax = 50;
/** Gmail cuts mails off after 102 KB of HTML, which would hide the requests at the end of a digest. */
export const digestHtmlBytesMax = 96 * 1024;

/** Retries of mail after a refusal for now or a lost connection: an hour in all. */
export const mailRetryDelaysMs = [10, 30, 60, 120, 240, 480, 900, 900, 900].map((s) => s * 1_000);

/** The most notices a day that tell a workspace's owners of failed mails. */
export const mailNoticesPerDayMax = 20;
/** Each event writes one row per endpoint, in its own transaction. */
export const endpointsPerWorkspaceMax = 50;

/** A reminder that leaves the reviewer no more than this is not sent. */
export const reminderMinutesMin = 10;
export const reminderPercentMax = 50;
export const defaultReminderPercent = 10;

/** Approvals with more JSON than this are read alone, after the claim. */
export const claimedReadBytesMax = 64 * 1024;
/** The weight of a webhook with such an approval, a small one being 1: eight of a workspace at a time. */
export const largeWebhookWeight = 32;

/** The rows that one statement of a sweep takes. */
export const expiryBatch = 1_000;
export const reminderBatch = 200;
export const skipBatch = 2_000;
export const retentionBatch = 100;
/** How long a deleted group is looked after: requests that had found it before its deletion may still be written. */
export const deletedGroupWatchMinutes = 60;
/** Longer than a create can take from finding its group to being written. */
export const lateCreateMs = 60_000;

/** Covers everything from the lookup of the name to the last byte of the answer. */
export const webhookTimeoutMs = 10_000;
export const webhookResponseBytesMax = 4_096;
export const webhookHeaderBytesMax = 16_384;
/** Interim answers (1xx) before the real one. */
export const webhookInterimAnswersMax = 10;
/** Of a host with several addresses each gets this long to accept before the next one is tried. */
export const webhookAddressTimeoutMs = 1_000;
/** Kept open to one host, which may have many endpoints. */
export const webhookIdleSocketsMax = webhooksPerWorkspaceMax;
export const rememberedSecretsMax = 1_000;
export const webhookIdleTimeoutMs = 4_000;

/** For the name of an endpoint to be resolved, all in all. */
export const nameTimeoutMs = 8_000;
/** For one question to one name server; there may be several. */
export const nameQueryTimeoutMs = 2_000;
export const nameQueryTriesMax = 2;
/** Some name servers never answer one of the two questions; the other's answer waits no longer than this. */
export const otherFamilyWaitMs = 1_000;
export const systemLookupsMax = 2;
export const examinationTimeoutMs = 3_000;

/** The longest time for one mail, even if the mail server hangs. */
export const mailTimeoutMs = 25_000;

/** A review link is locked after this many wrong codes. */
export const reviewCodeTriesMax = 10;
/** How long a link shows the outcome of its approval. */
export const reviewOutcomeDays = 30;
/** A page that was opened longer ago must be loaded again before it can decide. */
export const reviewTicketHours = 24;
/** Calls to one review link. Each open page makes one or two every twenty seconds, and one when it is looked at again. */
export const reviewLinkCallsPerMinuteMax = 120;
export const reviewLinkCallsBurstMax = 120;
/** Calls to review links from one network address, behind which may be a whole office. */
export const reviewNetworkCallsPerMinuteMax = 3_000;
export const reviewNetworkCallsBurstMax = 1_000;
/** Smaller answers fit into a packet or two as they are. */
export const compressedBytesMin = 1_024;

/** Approvals that wait are counted up to here; beyond it the dashboard says "or more". */
export const pendingCountMax = 10_000;

/**
 * A request expires soon in the last quarter of its time, and not before its last hour. The hour leaves a member time to
 * reach the approver. The share keeps short-lived requests from expiring soon as soon as they are created.
 */
export const expiringSoonMinutesMax = 60;
export const expiringSoonShare = 0.25;
/** Of the monthly limit: from here on the dashboard says that it is nearly used up. */
export const quotaNearShare = 0.9;
/** Deliveries that failed this many days ago, and nobody resent, no longer ask for attention. No request lives longer. */
export const attentionDays = 7;
/** The dashboard's attention strip counts deliveries and mails up to here, and names this many of each kind. */
export const attentionCountMax = 100;
export const attentionNamedMax = 3;
/** The newest unsuccessful deliveries, and failed mails, that are read to count those. */
export const attentionReadMax = 1_000;
/** Pending approvals of one approver, or that match a filter, are counted up to here. */
export const awaitingCountMax = 1_000;

/** How often members may have one mail sent again, once a minute at most. */
export const mailRoundsMax = 10;

/** A code that was mailed, and how often it may be mistyped: of a million codes, five tries. */
export const signInCodeMinutes = 10;
export const signInCodeTriesMax = 5;
/** Codes to one address. With the tries of each, guessing for a whole day hits one time in ten thousand. */
export const signInCodesPerHourMax = 6;
export const signInCodesPerDayMax = 20;
/** The link that the terminal prints. */
export const signInLinkHours = 24;
/** A sign-in that takes longer than this must begin again. */
export const signInChallengeMinutes = 10;
/** A session ends after this many days, and earlier when nobody has used it for long. */
export const sessionDaysMax = 30;
export const sessionIdleDaysMax = 14;
export const sessionsPerPersonMax = 50;
/** Calls that sign in, from one network address. */
export const signInCallsPerMinuteMax = 30;
/** The most we keep of a browser's own name. */
export const userAgentCharactersMax = 300;

/** Deliveries to an endpoint that could be sent again are counted up to here. */
export const unsuccessfulCountMax = 10_000;
/** The last days of an endpoint's figures. */
export const endpointFigureDays = 14;
/** Entries on a page of a workspace's activity. */
export const activityPageMax = 50;
/** People of one workspace, and how many of them may be mailed an invitation within a day. */
export const membersPerWorkspaceMax = 500;
export const invitationsPerDayMax = 100;
/** When keys were last used is written at most this often, gathered for a moment before the first time. */
export const keyUseIntervalMs = 60_000;
export const keyUseGatherMs = 1_000;

export const passkeysPerPersonMax = 20;
export const passkeyNameCharactersMax = 80;
/** 1023 bytes in base64url: WebAuthn allows no longer ones. */
export const credentialIdCharactersMax = 1_364;
/** The most of each part of a browser's passkey answer; real ones are a tenth of it. */
export const passkeyPartCharactersMax = 32_768;
export const passkeyTransportsMax = 10;
/** For each call to a company's identity provider, and how much of its answer is read. */
export const openIdTimeoutMs = 10_000;
export const openIdAnswerBytesMax = 1024 * 1024;
/** How far the clock of the identity provider may be off. */
export const openIdClockToleranceSeconds = 30;

/** The most agents of a day that its figures distinguish, and that are shown. */
export const figureAgentsMax = 200;
export const shownAgentsMax = 10;
/** The same, of the groups and addresses that stages ask. */
export const figureApproversMax = 100;
export const shownApproversMax = 10;
/** A day's figures are kept with the ids of pending approvals, up to this many. */
export const figureOpenIdsMax = 2_000;
/** The kept figures are rewritten once this many more approvals are final. */
export const figureRowsMin = 1_000;
/** No statement that creates approvals takes longer: older creates have been committed. */
export const figureSettlingSeconds = 60;
/** Roughly how many of a day's deliveries to one endpoint its figures read. */
export const endpointSampleSize = 300;
/** The latest attempts that are read of each: a delivery that was resent often has more. */
export const attemptsLookedAtMax = 100;

/** Lines on a page of the dashboard's lists. */
export const dashboardPageItems = 50;
/** The newest rows a search reads before it asks the index of words: common words end there. */
export const searchGlance = 1_000;
/** A search asks the index for as many seasons at a time as hold about this many requests. */
export const searchStepRequests = 50_000;
/** The newest requests that are not indexed yet, of all workspaces and of one: a search reads these themselves. */
export const searchQueueGlance = 2_000;
export const unindexedSearchedMax = 100;
/** Of a longer queue, a search doesn't know whether it has all of a workspace. */
export const searchQueueLookedAtMax = 20_000;
/** Of these, and of rows that are shown with the place where a word was found, no larger JSON is read. */
export const unindexedJsonBytesMax = 16 * 1024;
export const excerptJsonBytesMax = 32 * 1024;
/** A search looks at this much of a payload, an edit and metadata each, and at this many words of a request. */
export const searchedJsonCharactersMax = 65_536;
export const searchWordsMax = 2_000;
/** Longer words are found by their beginning. */
export const searchWordCharactersMax = 64;
/** Words that signs divide are also found without the signs, if they are no longer. */
export const gluedCharactersMax = 40;
/** The marks of one letter that a search looks at. Unicode's Stream-Safe Text has room for 30. */
export const searchMarksMax = 30;
/** A text is split into words by pieces of this length, and other work comes in after about as many characters. */
export const searchPieceCharacters = 4_096;
/** Requests whose words are written at a time, and rather fewer than more JSON than this. */
export const indexBatch = 100;
export const indexBytesMax = 2 * 1024 * 1024;
/** The deliveries that are looked at for a page of one event. */
export const deliveriesLookedAtMax = 10_000;
/** An export reads this many requests at a time, and rather fewer than more JSON than this. */
export const exportPageItems = 100;
export const exportBytesMax = 2 * 1024 * 1024;
/** Exports that a person may begin. Each unread one holds a page in memory. */
export const exportsPerHourMax = 120;
export const exportsBurstMax = 12;
/** The text that people search for, and the names and addresses that they filter by. */
export const filterCharactersMax = 300;
/** The most deliveries and dates the dashboard shows of a request that was resent very often. */
export const historyEntriesMax = 1_000;

/** The most proxies one call may come through: nobody has more in front. */
export const forwardedHopsMax = 20;
/**
 * Calls of one session, which all tabs of a browser share. A busy page makes one every few seconds and a dozen when it is
 * opened; a script that was left running, or a thief with a cookie, gets no more of the database than this.
 */
export const sessionCallsPerMinuteMax = 600;
export const sessionCallsBurstMax = 200;
/** Passkeys that a person may begin to add: each ends in mails to them, and nobody's mailbox is to be filled. */
export const passkeysBegunPerHourMax = 30;

/** Apps in use that one person has connected to one workspace, of the keys above. */
export const connectionsPerPersonMax = 20;

/** What an MCP client says about itself when it registers. It travels in the client's id, and so in addresses. */
export const oauthClientBytesMax = 1_000;
export const oauthRedirectUrisMax = 10;
export const oauthRedirectUriCharactersMax = 500;
/** A client fetches its tokens at once. */
export const oauthCodeSeconds = 60;
export const oauthAccessMinutes = 60;
/** A client that is used within this time stays connected. */
export const oauthRefreshDays = 30;
/** Two parts of one client may refresh at once, and an answer may get lost. A token that comes again later was stolen. */
export const oauthReuseSeconds = 30;
/** Of one connection. A client that stays within the hour of its token needs one. */
export const oauthRefreshesPerMinuteMax = 20;
/** Used refresh tokens that are remembered: a client that refreshes every hour makes 720 in 30 days. */
export const oauthTokensPerConnectionMax = 2_000;
/** Of one network. */
export const oauthRegistrationsPerMinuteMax = 60;
/** Of one network: calls for tokens that were refused. Those that succeed don't count, and are never refused for others. */
export const oauthFailuresPerMinuteMax = 60;
/** Groups of one workspace: each is listed with all of its members, in one answer. */
export const groupsPerWorkspaceMax = 200;

/** How long a delivery whose secret key is missing waits before a worker looks again. */
export const awaitedKeyDelayMs = 5_000;

/** For each call of Slack's web API, answer included, and how much of the answer is read. */
export const slackTimeoutMs = 10_000;
export const slackAnswerBytesMax = 1024 * 1024;
