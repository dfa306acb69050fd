import Leaves
import Shapes

/// All shapes.
let shapes: [Shape] = [
  Shape("levelTitle") { await levelTitle($0) },
  Shape("levelLength") { await levelLength($0) },
  Shape("levelCover") { await levelCover($0) },
  Shape("levelPause") { await levelPause($0) },
  Shape("levelLogged") { await levelLogged($0) },
  Shape("levelHopeful") { await levelHopeful($0) },
  Shape("levelSave") { await levelSave($0) },
  Shape("switchBoth") { await switchBoth($0) },
  Shape("switchReversed") { await switchReversed($0) },
  Shape("switchWithoutError") { await switchWithoutError($0) },
  Shape("switchIgnoringFailure") { await switchIgnoringFailure($0) },
  Shape("switchIgnoringSuccess") { await switchIgnoringSuccess($0) },
  Shape("switchWithDefault") { await switchWithDefault($0) },
  Shape("switchWithCondition") { await switchWithCondition($0) },
  Shape("switchThenStatement") { await switchThenStatement($0) },
  Shape("statementThenSwitch") { await statementThenSwitch($0) },
  Shape("ifCaseSuccess") { await ifCaseSuccess($0) },
  Shape("ifCaseElse") { await ifCaseElse($0) },
  Shape("ifCaseThenStatement") { await ifCaseThenStatement($0) },
  Shape("ifCaseFailure") { await ifCaseFailure($0) },
  Shape("guardCase") { await guardCase($0) },
  Shape("guardSilently") { await guardSilently($0) },
  Shape("tryResult") { await tryResult($0) },
  Shape("doCatch") { await doCatch($0) },
  Shape("mappedResult") { await mappedResult($0) },
  Shape("wholeResult") { await wholeResult($0) },
  Shape("ignoredResult") { await ignoredResult($0) },
  Shape("shortName") { await shortName($0) },
  Shape("labelledClosure") { await labelledClosure($0) },
  Shape("namedCallback") { await namedCallback($0) },
  Shape("earlyReturn") { await earlyReturn($0) },
  Shape("returnAtTheEnd") { await returnAtTheEnd($0) },
  Shape("voidResult") { await voidResult($0) },
  Shape("typedFailure") { await typedFailure($0) },
  Shape("comments") { await comments($0) },
  Shape("synchronousCallback") { await synchronousCallback($0) },
  Shape("nestedCalls") { await nestedCalls($0) },
  Shape("nestedWithStatement") { await nestedWithStatement($0) },
  Shape("ifErrorElse") { await ifErrorElse($0) },
  Shape("ifErrorReturn") { await ifErrorReturn($0) },
  Shape("guardValue") { await guardValue($0) },
  Shape("guardBoth") { await guardBoth($0) },
  Shape("guardBothWithError") { await guardBothWithError($0) },
  Shape("valueOrDefault") { await valueOrDefault($0) },
  Shape("optionalChain") { await optionalChain($0) },
  Shape("ifValueThenIfError") { await ifValueThenIfError($0) },
  Shape("ifValueThenStatement") { await ifValueThenStatement($0) },
  Shape("number") { await number($0) },
  Shape("numberTwice") { await numberTwice($0) },
  Shape("numberEarlyReturn") { await numberEarlyReturn($0) },
  Shape("twoNumbers") { await twoNumbers($0) },
  Shape("shortNumber") { await shortNumber($0) },
  Shape("errorOnly") { await errorOnly($0) },
  Shape("errorIgnored") { await errorIgnored($0) },
  Shape("errorGuard") { await errorGuard($0) },
  Shape("errorOnlyFailure") { await errorOnlyFailure($0) },
  Shape("nothing") { await nothing($0) },
  Shape("emptyCallback") { await emptyCallback($0) },
  Shape("shadowedName") { await shadowedName($0) },
  Shape("statementAfter") { await statementAfter($0) },
  Shape("statementAfterTheBlock") { await statementAfterTheBlock($0) },
  Shape("branches") { await branches($0) },
  Shape("cases") { await cases($0) },
  Shape("guarded") { await guarded($0) },
  Shape("returnAfter") { await returnAfter($0) },
  Shape("valueAfter") { _ = await valueAfter($0) },
  Shape("twoCalls") { await twoCalls($0) },
  Shape("loop") { await loop($0) },
  Shape("whileLoop") { await whileLoop($0) },
  Shape("closureLoop", events: 2) { await closureLoop($0) },
  Shape("deferred") { await deferred($0) },
  Shape("group") { await group($0) },
  Shape("locked") { await locked($0) },
  Shape("lockedInCallback") { await lockedInCallback($0) },
  Shape("doBlock") { await doBlock($0) },
  Shape("inTask", events: 1) { inTask($0) },
  Shape("inTaskThenStatement", events: 2, first: 1) { inTaskThenStatement($0) },
  Shape("keptTask") { await keptTask($0) },
  Shape("synchronous", events: 1) { synchronous($0) },
  Shape("callee") { await callee($0) },
  Shape("lastCallee") { await lastCallee($0) },
  Shape("asValue") { await asValue($0) },
  Shape("throwing") { try await throwing($0) },
  Shape("conditional") { await conditional($0) },
  Shape("onMainQueue", events: 1) { await onMainQueue($0) },
  Shape("isolatedElsewhere", events: 1) { await isolatedElsewhere($0) },
  Shape("hopsToMain", events: 1) { await hopsToMain($0) },
  Shape("onQueue", events: 1) { await onQueue($0) },
  Shape("repeating") { await repeating($0) },
  Shape("never") { await never($0) },
  Shape("keptHandle") { await keptHandle($0) },
  Shape("ignoredHandle") { await ignoredHandle($0) },
  Shape("cancellableCounterpart") { await cancellableCounterpart($0) },
  Shape("cancellableInTask", events: 1) { cancellableInTask($0) },
  Shape("copied") { await copied($0) },
  Shape("optionalStore") { await optionalStore($0) },
  Shape("taskInCallback", events: 1) { await taskInCallback($0) },
  Shape("returnedHandle") { _ = await returnedHandle($0) },
  Shape("Screen.weakly") { store in
    let screen = Screen(store)
    screens.keep(screen)
    await screen.weakly()
  },
  Shape("Screen.weaklyGuarded") { store in
    let screen = Screen(store)
    screens.keep(screen)
    await screen.weaklyGuarded()
  },
  Shape("Screen.unowned") { store in
    let screen = Screen(store)
    screens.keep(screen)
    await screen.unowned()
  },
  Shape("Screen.strongly") { store in
    let screen = Screen(store)
    screens.keep(screen)
    await screen.strongly()
  },
  Shape("Screen.strongList") { store in
    let screen = Screen(store)
    screens.keep(screen)
    await screen.strongList()
  },
  Shape("MainScreen.onMainActor", events: 1) { store in await MainScreen(store).onMainActor() },
  Shape("MainScreen.isolatedCallback", events: 1) { store in await MainScreen(store).isolatedCallback() },
  Shape("MainScreen.fromTheMainQueue", events: 1) { store in await MainScreen(store).fromTheMainQueue() },
]
