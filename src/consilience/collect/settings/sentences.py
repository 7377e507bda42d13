"""Every sentence that a participant reads, by key, in English: what catalogues translate, and studies replace.

Texts are plain text, never markup. A word in braces stands for what is filled in.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

INSTRUCTIONS = {
    "start": "Start",
    "instructions": "Instructions",
    "task_open": "Put what belongs together into the same group. Make as many groups as you like.",
    "task_closed": "Put each card into the group where it belongs.",
    "task_hybrid": "Put each card into the group where it belongs. If none fits, make a group of your own.",
    "how_piles": (
        "Click a card, or several while you hold Ctrl or Shift, and then the button of a group. You can also drag "
        "cards, or press the number of a group on your keyboard."
    ),
    "how_piles_touch": (
        "Tap a card, or several, and then a group at the foot of the screen. A second tap on a card takes it back. You "
        "can also hold a card for a moment and drag it."
    ),
    "how_sheet": (
        "Choose a group, and then click the pictures that belong to it. You can also press the number of a group on "
        "your keyboard."
    ),
    "how_sheet_touch": "Choose a group at the foot of the screen, and then tap the pictures that belong to it.",
    "how_few": "Put at least {count} cards into each group.",
    "how_many": "Put at most {count} cards into each group.",
    "how_required": "Some cards must be sorted. You are told which if they are left when you hand in.",
    "how_saved": "Everything is saved as you work. You can close this page and come back to it later.",
    "preview": "This is a preview. What you do here does not count.",
    "progress": "Set {number} of {total}",
}

ENDINGS = {
    "thanks": "Thank you!",
    "thanks_text": "Your groups have been handed in. You may close this page.",
    "more": "Sort the next set",
    "more_text": "Your groups have been handed in.",
    "preview_over": "The preview is over. Nothing was counted.",
    "not_open": "This study is not open yet",
    "not_open_text": "Please come back later, with the same link.",
    "closed": "This study is closed",
    "closed_text": "It takes no more answers. Thank you for your interest.",
    "nothing_left": "There is nothing left to sort",
    "nothing_left_text": "All cards have been sorted often enough. Thank you for your interest.",
    "unknown_link": "This link does not work",
    "unknown_link_text": "Please check that it is complete, or ask the person who sent it to you for another.",
}

TRAINING = {
    "practice": "First, a practice",
    "practice_text": (
        "Sort some cards to get to know the task. The practice does not count. Afterwards you see what was expected."
    ),
    "start_practice": "Start the practice",
    "practice_stage": "Practice",
    "feedback": "What was expected in the practice",
    "feedback_count": "Cards that are where they were expected: {right} of {total}.",
    "feedback_right": "As expected",
    "feedback_unsorted": "You left it unsorted.",
    "feedback_given": "You put it into:",
    "feedback_missed": "Belongs together with:",
    "feedback_intruders": "Does not belong together with:",
    "go_on": "Continue",
    "practised": "The practice is over. What you sort from now on counts.",
    "admission": "A test before you take part",
    "admission_text": (
        "You take part if your groups are close enough to what is expected. Sets of cards in the test: {count}."
    ),
    "admission_task": "The task is the same as in the practice.",
    "start_admission": "Start the test",
    "admission_next": "The next set of the test",
    "admission_again": "Please try the test again",
    "admission_again_text": "Your groups differ too much from what is expected. Tries left: {left}.",
    "admission_stage": "Test",
    "admitted": "You passed the test, and take part. What you sort from now on counts.",
    "not_admitted": "You did not pass the test",
    "not_admitted_text": (
        "Your groups differ too much from what is expected, so you cannot take part in this study. Thank you for your "
        "interest."
    ),
}

CONSENT = {
    "consent": "Before you begin",
    "consent_rights": (
        "You can withdraw at any time by the link at the foot of each page. Everything that you gave is then deleted."
    ),
    "consent_kept": (
        "What the link by which you came says of you, such as your number in a panel, is erased after {days} days."
    ),
    "consent_moves": "Each move of a card is kept with its time, and used in the analysis.",
    "consent_agreed": "I have read this and agree.",
    "consent_go_on": "Continue",
    "consent_decline": "I do not agree",
    "consent_missing": "To take part, please tick the box; otherwise choose that you do not agree.",
    "declined": "You do not take part",
    "declined_text": "You did not agree, and nothing that you did is used. Thank you for your time.",
    "reconsider": "Read it again",
    "consent_changed": "This text was changed a moment ago. Please read it again.",
}

TURNED_AWAY = {
    "screened_out": "This study looks for other people",
    "screened_out_text": "This time, other people are needed. Thank you for your time and your interest.",
    "quota_full": "These places are taken",
    "quota_full_text": "The study still needs others. Thank you for your time and your interest.",
}

QUESTIONS = {
    "questions_before": "Some questions first",
    "questions_before_text": "Please answer them first.",
    "questions_after": "Some last questions",
    "questions_after_text": "Your groups have been handed in. These questions are the end.",
    "questions_go_on": "Continue",
    "required": "required",
    "any_number": "choose any",
    "answers_wrong": "Please look at these questions again:",
    "answer_required": "Please answer this question.",
    "answer_choice": "Please choose one of these.",
    "answer_number": "Please enter a number.",
    "answer_least_number": "Please enter a number that is not below {least}.",
    "answer_most_number": "Please enter a number that is not above {most}.",
    "answer_least_text": "Please write at least {least} characters.",
    "answer_most_text": "Please write at most {most} characters.",
}

LINKS = {
    "code": "Your code is",
    "return_link": "Go back to where you came from",
    "moved_on": "You cannot go on in this browser",
    "moved_on_text": (
        "Your link was opened in another browser, or replaced by a new one. Nothing that you did is lost. To go on "
        "here, open your link once more."
    ),
    "incomplete_link": "This link is incomplete",
    "incomplete_link_text": (
        "It lacks {names}, which this study needs. Please open the study again from the page that led you here."
    ),
    "turned_away": "You have taken part already",
    "turned_away_text": "This study can be taken part in once. Thank you for your interest.",
}

WITHDRAWING = {
    "withdraw": "Withdraw from this study",
    "withdraw_text": (
        "Your groups, your answers and what the link by which you came says of you are deleted, and cannot be brought "
        "back. Results that were published before stay as they are."
    ),
    "withdraw_confirm": "I want to withdraw.",
    "withdraw_do": "Delete what I gave",
    "withdraw_back": "Back",
    "withdraw_missing": "To withdraw, please tick the box.",
    "withdrawn": "You have withdrawn",
    "withdrawn_text": "Everything that you gave is deleted. You may close this page.",
}

JUDGING = {
    "task_judging": (
        "You will see four cards at a time. Three of them have something in common. Choose the one that does not "
        "belong with the others."
    ),
    "how_judging": "Choose what seems right to you. If you cannot say, there is a button for it.",
    "judge_question": "Which one does not belong with the others?",
    "judge_progress": "Question {number} of {total}",
    "judge_unsure": "I cannot say",
    "judge_keys": "You can also press 1 to 4 on the keyboard, or 0 if you cannot say.",
    "judge_thanks_text": "Your answers are saved. You may close this page.",
    "judge_questions_after_text": "You have answered all questions about the cards. These are the end.",
    "nothing_left_to_judge": "There is nothing left to answer",
    "nothing_left_to_judge_text": "All questions have been answered often enough. Thank you for your interest.",
    "sorted_before": "You have taken part before",
    "sorted_before_text": (
        "You sorted these cards in an earlier study. This one asks people who did not. Thank you for your interest."
    ),
}

ASKING = {
    "task_labels": "You will see one card at a time. Choose the answer that fits it best.",
    "task_pairs": "You will see two cards at a time. Say whether they are the same or different.",
    "how_questions": (
        "Choose what seems right to you. If you cannot say, there is a button for it. You can go back and change "
        "answers until you hand in."
    ),
    "question_labels": "Which answer fits this card?",
    "question_pairs": "Are these two the same or different?",
    "same": "Same",
    "different": "Different",
    "question_keys": "You can also press the key that stands on a button, or Backspace to go back.",
    "all_answered": "All questions of this set are answered",
    "all_answered_text": "Hand in now, or go back and change answers.",
    "unanswered_text": "Questions that are not answered yet: {count}.",
    "more_asked": "Answer the next set",
    "more_text_asked": "Your answers have been handed in.",
    "practice_text_asked": (
        "Answer some questions to get to know the task. The practice does not count. Afterwards you see what was "
        "expected."
    ),
    "practised_asked": "The practice is over. What you answer from now on counts.",
    "feedback_count_asked": "Answers that were as expected: {right} of {total}.",
    "feedback_given_asked": "You answered:",
    "feedback_unsorted_asked": "You could not say.",
    "admission_text_asked": (
        "You take part if your answers are close enough to what is expected. Sets of questions in the test: {count}."
    ),
    "admission_again_text_asked": "Your answers differ too much from what is expected. Tries left: {left}.",
    "admitted_asked": "You passed the test, and take part. What you answer from now on counts.",
    "withdraw_text_asked": (
        "Your answers and what the link by which you came says of you are deleted, and cannot be brought back. Results "
        "that were published before stay as they are."
    ),
    "not_admitted_asked": "You did not pass the test",
    "not_admitted_asked_text": (
        "Your answers differ too much from what is expected, so you cannot take part in this study. Thank you for your "
        "interest."
    ),
}

BOARD = {
    "unsorted": "Not sorted yet",
    "all_sorted": "All cards are sorted.",
    "group": "Group {number}",
    "new_group": "New group",
    "no_group": "No group",
    "groups": "Groups",
    "cards": "Cards",
    "card": "Card {number}",
    "sorted_count": "{sorted} of {total} sorted",
    "move_here": "Move here",
    "move_to": "Move to…",
    "move_selected": "Move the selected cards to",
    "mark_selected": "Mark the selected cards with",
    "selected": "{count} selected",
    "clear_selection": "Clear",
    "select_several": "Select several",
    "undo": "Undo",
    "redo": "Redo",
    "search": "Search cards",
    "found": "{count} of {total} found",
    "enlarge": "Enlarge {card}",
    "explain": "What {card} means",
    "look_closer": "Enlarge",
    "previous": "Previous",
    "next": "Next",
    "close": "Close",
    "cancel": "Cancel",
    "group_name": "Name of group {number}",
    "name_this_group": "Name this group",
    "names": "Name the groups",
    "save_name": "Save name",
    "remove": "Remove group {number}",
    "marked": "{card}: {group}",
    "choose_group": "Mark with",
    "hand_in": "Hand in",
    "keyboard": "With the keyboard",
    "key_arrows": "Arrow keys: go from card to card",
    "key_select": "Enter or Space: select a card. Hold Ctrl or Shift to select several.",
    "key_mark": "Enter or Space: mark a card with the chosen group",
    "key_numbers": "1 to 9: put the selected cards into this group, or into a new one",
    "key_numbers_sheet": "1 to 9: mark a card with this group, or with a new one",
    "key_none": "0 or Delete: take cards out of their group",
    "key_zoom": "Z: enlarge a card",
    "key_undo": "Ctrl+Z and Ctrl+Y: undo and redo",
    "key_escape": "Esc: clear the selection",
}

STATUS = {
    "saved": "Saved",
    "saving": "Saving…",
    "offline": "Offline: kept on this device",
    "was_offline": "The connection is back. Everything is saved.",
    "not_kept": "Not saved yet: please keep this page open",
    "session_over": "This session has ended. Please open your link again; what you did is kept on this device.",
    "no_longer_open": "This set has been handed in or closed. It takes no more changes.",
    "reload": "Load the page again",
    "refused": "A change could not be saved: {reason}",
}

SPOKEN = {
    "moved_one": "{card} is now in {group}. Not sorted yet: {left}.",
    "moved_many": "{count} cards are now in {group}. Not sorted yet: {left}.",
    "taken_out_one": "{card} is no longer in a group. Not sorted yet: {left}.",
    "taken_out_many": "{count} cards are no longer in a group. Not sorted yet: {left}.",
    "made": "New group: {group}.",
    "named": "{group} is now called {name}.",
    "removed": "{group} was removed.",
    "undone": "Undone. Not sorted yet: {left}.",
    "redone": "Done again. Not sorted yet: {left}.",
    "select_first": "Select a card first.",
    "no_such_group": "There is no group {number}.",
    "chosen": "Cards are now marked with {group}.",
}

HANDING_IN = {
    "still_unsorted": "Not all cards are sorted",
    "still_unsorted_text": "Cards not sorted yet: {count}. You can hand in without them, or sort them first.",
    "hand_in_anyway": "Hand in anyway",
    "keep_sorting": "Keep sorting",
    "sort_all": "Please sort all cards",
    "sort_all_text": "Cards not sorted yet: {count}.",
    "sort_these": "Some cards must be sorted",
    "sort_these_text": "Please sort these cards, too: {cards}.",
    "sort_some": "Nothing is sorted yet",
    "sort_some_text": "Please put at least one card into a group.",
    "name_all": "Please name every group",
    "name_all_text": "Groups without a name: {groups}.",
    "too_few": "Some groups have too few cards",
    "too_few_text": "Cards of a group: at least {count}. Fewer are in: {groups}.",
    "too_many": "Some groups have too many cards",
    "too_many_text": "Cards of a group: at most {count}. More are in: {groups}.",
    "hand_in_offline": "There is no connection",
    "hand_in_offline_text": "Everything is kept on this device. Please hand in when the connection is back.",
    "confirm_unsorted": "Hand in although cards are not sorted yet: {count}",
}

WRONG = {
    "wait": "Please wait a moment",
    "wait_text": "Too many changes at once. Wait a moment.",
    "wait_join_text": "Too many people begin from this place at once. Wait a moment, then open the link again.",
    "handed_in": "This set has been handed in",
    "no_page": "There is no such page",
    "no_page_text": "Please open the link to the study again.",
    "stranger_text": "Please open the link to the study again; this browser does not know who you are.",
    "not_taken": "This could not be taken",
    "not_taken_text": "What was sent could not be used. Please go back and try again.",
    "most_groups_text": "A board can have at most {count} groups.",
    "failed": "Something went wrong",
    "failed_text": "Please try again. If it happens again, tell those who sent you the link this number: {number}",
}

CHOOSING = {
    "language": "Language: {language}",
    "listed": "{first}, {second}",  # names one after another
}

GROUPS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "Start and instructions": INSTRUCTIONS,
        "The task": BOARD,
        "Saving": STATUS,
        "Handing in": HANDING_IN,
        "What screen readers say": SPOKEN,
        "The end, and why nobody can begin": ENDINGS,
        "Consent": CONSENT,
        "Questions": QUESTIONS,
        "Practice and test": TRAINING,
        "Who is not needed": TURNED_AWAY,
        "Links and codes": LINKS,
        "Withdrawing": WITHDRAWING,
        "One question after the other": ASKING,
        "Four cards of which one does not belong": JUDGING,
        "What went wrong": WRONG,
        "Languages": CHOOSING,
    }
)
TEXTS: Mapping[str, str] = MappingProxyType({key: text for group in GROUPS.values() for key, text in group.items()})
OF_SORTS = frozenset(
    {
        *(set(BOARD) - {"hand_in", "previous", "enlarge", "explain"}),
        *(*SPOKEN, *HANDING_IN, "most_groups_text"),
        *(key for key in TEXTS if f"{key}_asked" in TEXTS or key.startswith(("how_piles", "how_sheet"))),
        *("task_open", "task_closed", "task_hybrid", "how_few", "how_many", "how_required", "consent_moves"),
        *("thanks_text", "questions_after_text", "nothing_left", "nothing_left_text", "not_admitted_text"),
        *("feedback_missed", "feedback_intruders"),
    }
)
"""The texts that only people who sort on a board read."""
OF_QUESTIONS = frozenset({*ASKING, *JUDGING})
"""The texts that they do not."""
OF_JUDGES = frozenset(
    {*("task_judging", "how_judging", "judge_question", "judge_keys", "sorted_before"), "sorted_before_text"}
)
"""The texts that only those read who are shown four cards."""
SINGULARS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "how_few": ("count", "Put at least {count} card into each group."),
        "how_many": ("count", "Put at most {count} card into each group."),
        "consent_kept": (
            "days",
            "What the link by which you came says of you, such as your number in a panel, is erased after {days} day.",
        ),
        "answer_least_text": ("least", "Please write at least {least} character."),
        "answer_most_text": ("most", "Please write at most {most} character."),
        "moved_many": ("count", "{count} card is now in {group}. Not sorted yet: {left}."),
        "taken_out_many": ("count", "{count} card is no longer in a group. Not sorted yet: {left}."),
        "most_groups_text": ("count", "A board can have at most {count} group."),
    }
)
"""The texts that depend on a number: the word in braces that it stands for, and the English text for one."""
